//! Operations of the vendor's library that are not set up, or not ended.
//!
//! Each operation of the vendor's library runs the MOP that its own `init` has written into the expander. Where that
//! call is left out, or stands in the wrong place, the MOP of the operation before runs. Which operation a piece of
//! code belongs to is told by the innermost of the library's functions that it was inlined into: `_llk_unpack_tilize_`
//! runs what `_llk_unpack_tilize_mop_config_` within `_llk_unpack_tilize_init_` sets up `[hdr: tt-llk llk_lib]`. Code
//! that was inlined into none of them says nothing.
//!
//! Some operations change settings that only their `uninit` takes back, and what is set up next works with them.

use std::collections::BTreeSet;

use isa::op::Opcode;
use memory_map::{Target, lookup};
use rustc_hash::FxHashSet;
use sim_core::{AgentId, CoreId, Event, Stamp, ThreadId};

use super::circular::Violation;
use super::hazards::{self as h, Hazard};
use crate::cache::Cache;
use crate::describe::view_of;
use crate::names::{FrameName, Names};

/// What the threads are set up for.
#[derive(Clone, Debug, Default)]
pub(super) struct Operations {
    threads: [Thread; ThreadId::COUNT],
    /// What has been said of the kernels, with the line: a loop that was unrolled runs in many places.
    said: BTreeSet<(String, String)>,
}

/// Of one thread. Names are looked up where something is to be decided: kernels push in many places.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// Where the configuration of the MOP expander was written last.
    set_up: Option<u32>,
    /// The kernel has written to that configuration.
    has_mop: bool,
    /// Where the core has been since the last MOP.
    since_mop: FxHashSet<u32>,
    /// Where MOPs run that another operation has just set up: code that the compiler lets several operations share
    /// has the names of one of them.
    shared: BTreeSet<u32>,
    /// The operation that has to be ended before another one begins, with the pc where it was set up.
    open: Option<(&'static str, u32)>,
    /// Where the core has been since, and has not been looked for its end.
    since_open: FxHashSet<u32>,
    /// What code is for, by pc.
    code: Cache<u32, Code>,
    /// Functions of the library by their numbers.
    functions: Vec<Function>,
}

/// A function of the library.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Function {
    /// What its name says is done.
    name: String,
    /// What it is done with: template arguments of [`KINDS`].
    kinds: Vec<(String, String)>,
}

/// What code of a kernel is for.
#[derive(Clone, Copy, Debug)]
struct Code {
    /// The number of the innermost function of the library.
    function: Option<u16>,
    /// Whether that sets up an operation.
    sets_up: bool,
    /// Operations that end there, by their places among [`ENDED`].
    ends: u16,
}

impl Code {
    /// Takes the functions there; those that have a number are in `functions`.
    fn of(frames: &[FrameName], functions: &mut Vec<Function>) -> Self {
        let found = operation(frames);
        let function = found.map(|(name, arguments)| {
            let function = Function { name: name.to_owned(), kinds: kinds(arguments) };
            let known = functions.iter().position(|known| *known == function);
            known.unwrap_or_else(|| {
                functions.push(function);
                functions.len() - 1
            }) as u16
        });
        let sets_up = found.is_some_and(|(name, _)| own(name) != name);
        let functions = || frames.iter().map(|frame| &frame.code.function);
        let may_end = functions().any(|name| ENDINGS.iter().any(|ending| name.contains(ending)));
        let ended = |of: &&str| may_end && functions().any(|name| ends(of, name));
        let ends = ENDED.iter().enumerate().filter(|(_, of)| ended(of));
        Self { function, sets_up, ends: ends.fold(0, |all, (at, _)| all | 1 << at) }
    }
}

/// Where a core is.
type Place = (CoreId, u32);

/// What was found.
type Found = Option<(Hazard, String)>;

impl Operations {
    /// All kernels are done.
    pub(super) fn ended(&mut self) {
        *self = Self::default();
    }

    /// Other names are in force. Who tells may be late: the kernels may have set up something.
    pub(super) fn launched(&mut self) {
        let Self { threads, .. } = std::mem::take(self);
        for (own, before) in self.threads.iter_mut().zip(threads) {
            own.has_mop = before.has_mop;
        }
    }

    /// Takes an event.
    pub(super) fn event(
        &mut self,
        names: &impl Names,
        stamp: Stamp,
        event: &Event,
    ) -> Option<Violation> {
        // A new program begins, of which nobody says so.
        if let Event::Reset { core, asserted: false, .. } = *event {
            self.threads[core.thread()?.index()] = Thread::default();
            return None;
        }
        let AgentId::Core(core) = stamp.agent else { return None };
        let thread = &mut self.threads[core.thread()?.index()];
        let place = (core, stamp.pc);
        let found = match *event {
            Event::DeviceStore { addr, .. } => {
                thread.at(stamp.pc);
                let is_mop = lookup(view_of(core), addr)?.target == Target::MopCfgOwn;
                is_mop.then(|| thread.sets_up(names, place))?
            }
            Event::Push { word, after_mop: false, .. } => {
                thread.at(stamp.pc);
                let is_mop = Opcode::from_word(word) == Some(Opcode::Mop);
                is_mop.then(|| thread.runs(names, place))?
            }
            _ => None,
        };
        let (hazard, text) = found?;
        let line = names.site(core, stamp.pc)?.to_string();
        self.said.insert((text.clone(), line)).then_some((stamp, hazard, text))
    }
}

impl Thread {
    /// The core is at a place.
    fn at(&mut self, pc: u32) {
        self.since_mop.insert(pc);
        if self.open.is_some() {
            self.since_open.insert(pc);
        }
    }

    fn code(&mut self, names: &impl Names, (core, pc): Place) -> Code {
        let Self { code, functions, .. } = self;
        *code.get(pc, || Code::of(&names.frames(core, pc), functions))
    }

    fn function(&self, number: u16) -> Option<&Function> {
        self.functions.get(usize::from(number))
    }

    /// Where the core has ended an operation since it was set up, if it has; places are looked at once.
    fn end_of(&mut self, names: &impl Names, core: CoreId, operation: &str) -> Option<u32> {
        let at = ENDED.iter().position(|of| *of == operation)?;
        let places = std::mem::take(&mut self.since_open);
        places.into_iter().find(|pc| self.code(names, (core, *pc)).ends >> at & 1 == 1)
    }

    /// The core writes to the expander's configuration.
    fn sets_up(&mut self, names: &impl Names, (core, pc): Place) -> Found {
        self.has_mop = true;
        self.set_up = Some(pc);
        let function = self.code(names, (core, pc)).function?;
        let name = &self.function(function)?.name;
        let begun = ENDED.into_iter().find(|of| begins(name, of));
        let before = std::mem::replace(&mut self.open, begun.map(|of| (of, pc)));
        let (left, place) = before?;
        if Some(left) == begun {
            self.since_open.clear();
            return None;
        }
        if self.end_of(names, core, left).is_some() {
            return None;
        }
        let site = names.site(core, place)?;
        let (caller, called) = (called(names, core, place)?, called(names, core, pc)?);
        let text = format!(
            "{called} comes without the uninit of {caller} ({left}), which has set up in {site}"
        );
        Some((h::C24, text))
    }

    /// The core runs the MOP.
    fn runs(&mut self, names: &impl Names, (core, pc): Place) -> Found {
        let been = std::mem::take(&mut self.since_mop);
        let function = self.code(names, (core, pc)).function?;
        let run = self.function(function)?.clone();
        if !std::mem::replace(&mut self.has_mop, true) {
            let (called, run) = (called(names, core, pc)?, run.name);
            let text = format!("{called} ({run}) runs a MOP, and the kernel has set up none");
            return Some((h::C23, text));
        }
        let place = self.set_up?;
        let set_up = self.code(names, (core, place)).function?;
        let set_up = self.function(set_up)?.clone();
        if runs_own(&set_up.name, &run.name) && agree(&set_up, &run) {
            return self.runs_late(names, (core, pc), &run.name);
        }
        for pc_before in been {
            let before = self.code(names, (core, pc_before));
            let function = before.function.and_then(|number| self.function(number));
            let Some(before) = function.filter(|_| before.sets_up) else { continue };
            // The code that writes a MOP may be shared, too.
            if runs_own(&before.name, &run.name) && agree(before, &run) {
                return None;
            }
            self.shared.insert(pc);
        }
        if self.shared.contains(&pc) {
            return None;
        }
        let site = names.site(core, place)?;
        let (caller, called) = (called(names, core, place)?, called(names, core, pc)?);
        let (run, set_up) = (run.name, set_up.name);
        let text =
            format!("{called} ({run}) runs the MOP that {caller} ({set_up}) has set up in {site}");
        Some((h::C23, text))
    }

    /// An operation runs its own MOP, and may have been ended before.
    fn runs_late(&mut self, names: &impl Names, (core, pc): Place, run: &str) -> Found {
        let (open, _) = self.open.filter(|(of, _)| begins(run, of))?;
        let place = self.end_of(names, core, open)?;
        self.open = None;
        let site = names.site(core, place)?;
        let (caller, called) = (called(names, core, place)?, called(names, core, pc)?);
        let text = format!("{called} ({open}) comes behind its {caller} in {site}");
        Some((h::C24, text))
    }
}

/// Operations that change settings of a unit for themselves, which only their `uninit` takes back.
const ENDED: [&str; 9] = [
    "pack_fast_tilize",
    "pack_fast_untilize",
    "pack_rows",
    "pack_untilize",
    "unpack_fast_tilize",
    "unpack_fast_untilize",
    "unpack_tilize",
    "unpack_tilizeA_B",
    "unpack_untilize",
];

/// Operations that set up a MOP and whose names begin with that of another one.
const OTHERS: [&str; 16] = [
    "math_reduce_block_max_row",
    "pack_custom_mm",
    "pack_fast_tilize",
    "pack_fast_untilize",
    "pack_rows",
    "pack_untilize",
    "unpack_AB_compressed_custom_mm",
    "unpack_AB_custom_mm",
    "unpack_AB_face_compressed_mm",
    "unpack_AB_matmul",
    "unpack_AB_reduce",
    "unpack_AB_reduce_block_max_row",
    "unpack_AB_scalar_block",
    "unpack_AB_sdpa_custom_mm_reuse_dest_srcb",
    "unpack_AB_sub_bcast_col",
    "unpack_A_top32_rm",
];

/// What else sets up a MOP, and the operation that it is for.
const VARIANTS: [(&str, &str); 4] = [
    ("pack_block_contiguous", "pack"),
    ("pack_fast_untilize_strided", "pack_fast_untilize"),
    ("unpack_A_rmsnorm", "unpack_A"),
    ("unpack_A_sdpa", "unpack_A"),
];

/// Types of template arguments that say what the MOP does: which of the operations of one name.
const KINDS: [&str; 6] = [
    "BroadcastType",
    "DataCopyType",
    "EltwiseBinaryReuseDestType",
    "EltwiseBinaryType",
    "PoolType",
    "ReduceDim",
];

/// `PoolType::AVG` and the value of `PoolType::SUM` `[hdr: tt-llk llk_defs.h]`.
const AVERAGE: (&str, &str) = ("PoolType", "1");
const SUM: &str = "0";

/// Those of a list of template arguments, with their values: `(ckernel::PoolType)1`.
fn kinds(arguments: &str) -> Vec<(String, String)> {
    let found = arguments.split(", ").filter_map(|argument| {
        let (kind, value) = argument.strip_prefix("(ckernel::")?.split_once(')')?;
        // An average is a sum with another scaler.
        let value = if (kind, value) == AVERAGE { SUM } else { value };
        KINDS.contains(&kind).then(|| (kind.to_owned(), value.to_owned()))
    });
    found.collect()
}

/// Whether two functions are for the same, as far as both say so.
fn agree(one: &Function, other: &Function) -> bool {
    one.kinds.iter().all(|(kind, value)| {
        let same = other.kinds.iter().find(|(other, _)| other == kind);
        same.is_none_or(|(_, other)| other == value)
    })
}

/// How the names of operations begin.
const UNITS: [&str; 3] = ["unpack", "math", "pack"];

/// What the names of functions that set up go on with behind that of the operation.
const ENDS: [&str; 3] = ["init", "mop", "reinit"];

/// The name of the innermost function of the library, as far as it says what is done: `unpack_tilize_init`.
/// With its template arguments.
pub(super) fn operation(frames: &[FrameName]) -> Option<(&str, &str)> {
    frames.iter().find_map(|FrameName { code, arguments }| {
        let name = code.function.rsplit("::").next()?.trim_matches('_').strip_prefix("llk_")?;
        UNITS.contains(&name.split('_').next()?).then_some((name, &arguments[..]))
    })
}

/// The operation that a function of the library sets up, or is part of.
fn own(function: &str) -> &str {
    let mut end = 0_usize;
    for word in function.split('_') {
        if ENDS.contains(&word) {
            let name = function.get(..end.saturating_sub(1)).unwrap_or_default();
            return name.strip_suffix("_configure").unwrap_or(name);
        }
        end += word.len() + 1;
    }
    function
}

/// Whether a function of the library runs the MOP that another one sets up.
fn runs_own(set_up: &str, run: &str) -> bool {
    let own = own(set_up);
    let own = VARIANTS.iter().find(|(name, _)| *name == own).map_or(own, |(_, of)| of);
    let is_others =
        |other: &&str| other.len() > own.len() && begins(other, own) && begins(run, other);
    begins(run, own) && !OTHERS.iter().any(is_others)
}

/// Whether the words of a name begin with those of another one.
fn begins(name: &str, with: &str) -> bool {
    name.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// What the names of functions that end an operation have in them.
const ENDINGS: [&str; 2] = ["uninit", "hw_configure"];

/// Whether a function ends an operation: `tilize_uninit`, or what it calls, `_llk_unpack_tilize_uninit_`; or
/// `_llk_unpack_hw_configure_`, which sets all of the unit.
fn ends(operation: &str, function: &str) -> bool {
    let name = function.rsplit("::").next().unwrap_or_default().trim_matches('_');
    let name = name.strip_prefix("llk_").unwrap_or(name);
    let Some((unit, what)) = operation.split_once('_') else { return false };
    // The unit is not in the names of the functions for kernels.
    let done = match name.split_once('_') {
        Some((of, done)) if UNITS.contains(&of) => {
            if of == unit && begins(done, "hw_configure") {
                return true;
            }
            done
        }
        _ => name,
    };
    begins(done, what) && done.split('_').any(|word| word == "uninit")
}

/// The function that the author calls in the line that a pc belongs to.
pub(super) fn called(names: &impl Names, core: CoreId, pc: u32) -> Option<String> {
    let (site, frames) = (names.site(core, pc)?, names.frames(core, pc));
    let own = frames.iter().position(|frame| frame.code == site)?;
    // What the author calls was inlined into the line itself.
    let frame = frames.get(own.saturating_sub(1))?;
    let function = &frame.code.function;
    Some(function.strip_prefix("ckernel::").unwrap_or(function).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::CodeName;

    fn frames(functions: &[&str]) -> Vec<FrameName> {
        let frame = |name: &&str| FrameName {
            code: CodeName { function: (*name).to_owned(), file: None, line: None },
            arguments: String::new(),
        };
        functions.iter().map(frame).collect()
    }

    /// The name of the operation there.
    fn named(functions: &[&str]) -> Option<String> {
        operation(&frames(functions)).map(|(name, _)| name.to_owned())
    }

    #[test]
    fn operation_is_told_by_the_innermost_function_of_the_library() {
        let chain = [
            "ckernel::ckernel_template::program",
            "eltwise_binary_configure_mop_standard",
            "_llk_math_eltwise_binary_standard_init_",
            "_llk_math_eltwise_binary_init_",
            "ckernel::mul_bcast_cols_init",
        ];
        assert_eq!(named(&chain).as_deref(), Some("math_eltwise_binary_standard_init"));
        let inner = ["ckernel::_llk_unpack_topk_xl_copy_init_", "unpack_copy_tile"];
        assert_eq!(named(&inner).as_deref(), Some("unpack_topk_xl_copy_init"));
        assert_eq!(
            operation(&frames(&["ckernel::ckernel_template::program", "replica_arm"])),
            None
        );
        assert_eq!(named(&["llk_matmul_pack"]), None);
        assert_eq!(own("math_top32_rm_configure_mop"), "math_top32_rm");
        assert_eq!(own("unpack_configure_addresses"), "unpack_configure_addresses");
    }

    #[test]
    fn mop_is_an_operations_own_unless_another_one_has_set_it_up() {
        let own = [
            ("pack_mop_config", "pack"),
            ("unpack_untilize_mop_config", "unpack_untilize_pass"),
            ("pack_fast_tilize_reinit_unit_dim", "pack_fast_tilize_row_chunk"),
            ("pack_fast_untilize_strided_mop_config", "pack_fast_untilize_block_strided"),
            ("unpack_A_sdpa_mop_config", "unpack_A"),
            ("math_reduce_block_max_row_mop_config_runtime", "math_reduce_block_max_row_runtime"),
            ("pack_block_contiguous", "pack_block_contiguous"),
            ("unpack_AB_reduce_init", "unpack_AB_reduce_impl"),
            ("math_top32_rm_configure_mop", "math_top32_rm"),
        ];
        for (set_up, run) in own {
            assert!(runs_own(set_up, run), "{set_up} for {run}");
        }
        let others = [
            ("pack_mop_config", "pack_untilize"),
            ("pack_untilize_mop_config", "pack"),
            ("unpack_AB_mop_config", "unpack_AB_matmul"),
            ("unpack_AB_matmul_mop_config", "unpack_AB"),
            ("unpack_A_mop_config", "unpack_AB"),
            ("unpack_AB_reduce_mop_config", "unpack_AB_reduce_block_max_row"),
            ("math_reduce_init", "math_eltwise_binary_standard"),
            ("math_eltwise_binary_standard_init", "math_eltwise_binary_with_dest_reuse"),
        ];
        for (set_up, run) in others {
            assert!(!runs_own(set_up, run), "{set_up} for {run}");
        }
    }

    #[test]
    fn operation_is_ended_by_its_own_uninit_or_by_configuring_the_unit() {
        for ending in
            ["ckernel::tilize_uninit", "_llk_unpack_tilize_uninit_", "llk_unpack_hw_configure"]
        {
            assert!(ends("unpack_tilize", ending), "{ending}");
        }
        for other in [
            "untilize_uninit",
            "_llk_pack_hw_configure_",
            "ckernel::tilize_init",
            "tilizeA_B_uninit",
        ] {
            assert!(!ends("unpack_tilize", other), "{other}");
        }
        assert!(ends("pack_untilize", "ckernel::pack_untilize_uninit"));
    }

    #[test]
    fn operations_of_one_name_differ_by_what_they_are_done_with() {
        let function = |arguments: &str| Function { name: String::new(), kinds: kinds(arguments) };
        let add = function(
            "(ckernel::EltwiseBinaryType)1, (ckernel::BroadcastType)0, (ckernel::MathFidelity)0",
        );
        let named = [("EltwiseBinaryType", "1"), ("BroadcastType", "0")];
        assert_eq!(add.kinds, named.map(|(kind, value)| (kind.to_owned(), value.to_owned())));
        let run = |kind: u8| {
            function(&format!("(ckernel::EltwiseBinaryType){kind}, (ckernel::DstSync)0, false"))
        };
        assert!(agree(&add, &run(1)), "a broadcast is not mentioned");
        assert!(!agree(&add, &run(0)));
        assert!(agree(&add, &Function::default()));
        let [sum, average, most] =
            [0, 1, 2].map(|kind| function(&format!("(ckernel::PoolType){kind}, true")));
        assert!(agree(&sum, &average));
        assert!(!agree(&sum, &most));
    }
}
