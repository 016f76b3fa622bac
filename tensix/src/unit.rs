//! The units of the back end as agents: from what executes an instruction to who can be busy.

use isa::op::Unit;
use sim_core::{UnitId, WaitReason};

/// The unit as an agent; `None` for what the frontend keeps to itself.
#[must_use]
pub const fn unit_id(unit: Unit) -> Option<UnitId> {
    Some(match unit {
        Unit::Sync => UnitId::Sync,
        Unit::Unpacker => UnitId::Unpacker,
        Unit::Matrix => UnitId::Matrix,
        Unit::Packer => UnitId::Packer,
        Unit::Vector => UnitId::Vector,
        Unit::Scalar => UnitId::Scalar,
        Unit::Config => UnitId::Config,
        Unit::Mover => UnitId::Mover,
        Unit::Misc => UnitId::Misc,
        Unit::Frontend => return None,
    })
}

/// The reason for waiting for a unit.
pub(crate) const fn busy(unit: Unit) -> WaitReason {
    let unit = match unit_id(unit) {
        Some(unit) => unit,
        None => UnitId::Misc,
    };
    WaitReason::UnitBusy { unit }
}
