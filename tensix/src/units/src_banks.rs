//! Who may access which bank of SrcA and SrcB.
//!
//! Two banks each; a bank belongs to the unpackers or to the matrix unit, and each side has a
//! pointer to the bank it uses next `[isa-wh: TensixCoprocessor/SrcASrcB.md]`.

/// Bank ownership of one source operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SrcBanks {
    /// Per bank: owned by the matrix unit, else by the unpackers.
    pub(crate) owned_by_matrix: [bool; 2],
    /// Bank the unpacker uses next.
    pub(crate) unpacker_bank: bool,
    /// Bank the matrix unit uses next.
    pub(crate) matrix_bank: bool,
}

impl SrcBanks {
    /// Conditions C5 and C6: the unpacker's bank is not its own.
    pub(crate) fn unpacker_waits(&self) -> bool {
        self.owned_by_matrix[usize::from(self.unpacker_bank)]
    }

    /// Conditions C7 and C8: the matrix unit's bank is not its own.
    pub(crate) fn matrix_waits(&self) -> bool {
        !self.owned_by_matrix[usize::from(self.matrix_bank)]
    }
}
