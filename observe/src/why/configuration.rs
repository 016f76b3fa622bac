//! Arguments that a kernel reads and was not given.
//!
//! A launch has its arguments in L1 one behind another, by core, and behind them semaphores and the configurations of
//! circular buffers `[spec: boot-and-sync 7.1]`. How many there are of each is not said: a core that reads too far
//! takes what comes next for its own.

use std::fmt;

use sim_core::CoreId;

use super::hazards::{self as h, Hazard};

/// Most arguments that firmware has room for `[hdr: hw/inc/hostdev/dev_msgs.h]`.
pub(super) const ARGUMENT_BYTES: u32 = 341 * 4;
/// Bytes from one semaphore to the next, of which it is the first word `[spec: boot-and-sync 7.1]`.
const SEMAPHORE_STRIDE: u32 = 16;

/// What begins somewhere in the configuration of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A core's runtime arguments.
    Arguments(CoreId),
    /// Its common runtime arguments.
    Common(CoreId),
    /// Semaphores.
    Semaphores,
    /// Configurations of local circular buffers.
    Buffers,
    /// Configurations of remote buffers, which kernels may read.
    Remote,
    /// A core's code, with what it brings for its variables.
    Code,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Common(_)) { "common argument" } else { "argument" })
    }
}

impl Part {
    fn is_of(self, core: CoreId) -> bool {
        matches!(self, Self::Arguments(own) | Self::Common(own) if own == core)
    }
}

/// The configuration of a launch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Configuration {
    /// What begins where in L1, by address.
    parts: Vec<(u32, Part)>,
    /// Where firmware takes arguments to be that a core has none of.
    none: Vec<(u32, Part)>,
    /// Who has read arguments that begin at one address first.
    readers: Vec<(u32, CoreId)>,
}

/// Which kernel's arguments a core has: all TRISCs run one.
const fn kernel_of(core: CoreId) -> u8 {
    match core {
        CoreId::Brisc => 0,
        CoreId::Ncrisc => 1,
        CoreId::Trisc0 | CoreId::Trisc1 | CoreId::Trisc2 => 2,
    }
}

impl Configuration {
    /// A configuration of these parts, and where firmware takes arguments to be that were not given.
    #[must_use]
    pub fn new(mut parts: Vec<(u32, Part)>, none: Vec<(u32, Part)>) -> Self {
        parts.sort_by_key(|(start, _)| *start);
        Self { parts, none, readers: Vec::new() }
    }

    /// The address at which something else begins behind one.
    fn behind(&self, addr: u32) -> Option<u32> {
        self.parts.iter().map(|(start, _)| *start).find(|start| *start > addr)
    }

    /// The arguments of a core of which there are none, and that a load of a word takes there.
    fn of_none(&self, core: CoreId, addr: u32) -> Option<(u32, Part)> {
        let takes = |(begin, part): &&(u32, Part)| {
            let room = *begin..begin.saturating_add(ARGUMENT_BYTES);
            part.is_of(core) && room.contains(&addr) && (addr - begin).is_multiple_of(4)
        };
        self.none.iter().find(takes).copied()
    }

    /// Whether a load of a word from there may be one of an argument.
    pub(super) fn concerns(&self, addr: u32) -> bool {
        let starts = || self.parts.iter().chain(&self.none).map(|(start, _)| *start);
        let (Some(first), Some(last)) = (starts().min(), starts().max()) else { return false };
        (first..last.saturating_add(ARGUMENT_BYTES)).contains(&addr)
    }

    /// Whether all its parts begin in front of an address. What lies before them is firmware's.
    pub(super) fn begins_before(&self, addr: u32) -> bool {
        self.parts.last().is_some_and(|(start, _)| *start <= addr)
    }

    /// Who else reads arguments of a core that begin there: a host gives them to one of both.
    fn other_reader(&mut self, core: CoreId, begin: u32) -> Option<CoreId> {
        let known = self.readers.iter().find(|(start, _)| *start == begin);
        let Some((_, reader)) = known else {
            self.readers.push((begin, core));
            return None;
        };
        (kernel_of(*reader) != kernel_of(core)).then_some(*reader)
    }

    /// What there is to say of a kernel's load from `addr`; `written` says whether anybody has ever written the word.
    #[must_use]
    pub fn loaded(
        &mut self,
        core: CoreId,
        addr: u32,
        written: impl Fn(u32) -> bool,
    ) -> Option<(Hazard, String)> {
        // Nothing else is read where no word is.
        if let Some((begin, part)) = self.of_none(core, addr).filter(|_| !addr.is_multiple_of(4)) {
            let text = format!("reads {part} {}, but {core} was given none", (addr - begin) / 4);
            return Some((h::C9, text));
        }
        let end = self.parts.partition_point(|(start, _)| *start <= addr);
        let before = &self.parts[..end];
        let (start, _) = *before.last()?;
        let here = || before.iter().skip_while(move |(at, _)| *at != start);
        // Code comes last and is never empty: what else begins there is.
        if here().any(|(_, part)| *part == Part::Code) {
            return None;
        }
        // Where both kinds begin, one of them is empty, which nobody says: the common ones are rare.
        let kind = |(begin, part): &&(u32, Part)| (*begin, matches!(part, Part::Arguments(_)));
        let own = before.iter().filter(|(_, part)| part.is_of(core)).max_by_key(kind);
        let own = own.filter(|(begin, _)| addr - begin < ARGUMENT_BYTES);
        let is_own = here().any(|(_, part)| part.is_of(core));
        if let (Some(&(begin, part)), true) = (own, is_own) {
            let index = (addr - begin) / 4;
            if !written(addr & !3) {
                let text = format!("reads {part} {index}, which nobody has ever written");
                return Some((h::C9, text));
            }
            let other = self.other_reader(core, begin)?;
            let text = format!(
                "reads {part} {index}, and {other} has read arguments there too: only one of them was given any"
            );
            return Some((h::C9, text));
        }
        let whose = here().find_map(|(_, part)| match *part {
            Part::Arguments(other) | Part::Common(other) => Some(other.to_string()),
            Part::Buffers => Some("the circular buffers".to_owned()),
            Part::Semaphores if !(addr - start).is_multiple_of(SEMAPHORE_STRIDE) => {
                Some("the semaphores".to_owned())
            }
            Part::Semaphores | Part::Remote | Part::Code => None,
        })?;
        let (begin, part, given) = match (own, self.of_none(core, addr)) {
            (Some((begin, part)), _) => {
                (*begin, *part, format!("{} at most", (self.behind(*begin)? - begin) / 4))
            }
            (None, Some((begin, part))) => (begin, part, "none".to_owned()),
            (None, None) => return None,
        };
        let index = (addr - begin) / 4;
        let text = format!(
            "reads {part} {index}, but {core} was given {given}; {addr:#x} belongs to {whose}"
        );
        Some((h::C9, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::touched::Touched;

    const BASE: u32 = 0xA080;
    const NOWHERE: u32 = BASE + 0xFFFF;

    /// BRISC has two arguments, NCRISC three and a word that fills up, all TRISCs have common ones.
    fn configuration() -> Configuration {
        let trisc = [CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];
        let mut parts = vec![
            (BASE + 0x30, Part::Buffers),
            (BASE, Part::Arguments(CoreId::Brisc)),
            (BASE + 8, Part::Arguments(CoreId::Ncrisc)),
            (BASE + 0x50, Part::Remote),
            (BASE + 0x20, Part::Semaphores),
        ];
        parts.extend(trisc.map(|core| (BASE + 0x18, Part::Common(core))));
        let none = vec![
            (BASE, Part::Common(CoreId::Ncrisc)),
            (NOWHERE, Part::Common(CoreId::Brisc)),
            (NOWHERE, Part::Arguments(CoreId::Trisc2)),
            (BASE, Part::Arguments(CoreId::Trisc0)),
        ];
        Configuration::new(parts, none)
    }

    fn said(core: CoreId, addr: u32) -> Option<String> {
        let mut written = Touched::new(4);
        written.set(BASE, 8 + 12, true);
        written.set(BASE + 0x18, 0x100, true);
        configuration().loaded(core, addr, |word| written.any(word, 4)).map(|(hazard, text)| {
            assert_eq!(hazard.id, "C9");
            text
        })
    }

    #[test]
    fn argument_that_was_not_given_is_named_with_whose_it_is() {
        let text = |core, addr| said(core, addr).expect("it was not given");
        assert_eq!(said(CoreId::Brisc, BASE + 4), None);
        assert_eq!(
            text(CoreId::Brisc, BASE + 8),
            "reads argument 2, but BRISC was given 2 at most; 0xa088 belongs to NCRISC"
        );
        assert_eq!(said(CoreId::Ncrisc, BASE + 16), None);
        assert_eq!(
            text(CoreId::Ncrisc, BASE + 20),
            "reads argument 3, which nobody has ever written"
        );
        assert_eq!(
            text(CoreId::Ncrisc, BASE + 0x18),
            "reads argument 4, but NCRISC was given 4 at most; 0xa098 belongs to TRISC0"
        );
        assert_eq!(said(CoreId::Trisc1, BASE + 0x18), None);
        assert_eq!(
            text(CoreId::Trisc1, BASE + 0x30),
            "reads common argument 6, but TRISC1 was given 2 at most; 0xa0b0 belongs to the circular buffers"
        );
    }

    #[test]
    fn of_two_kinds_that_begin_at_one_place_the_common_ones_are_taken_to_be_empty() {
        let kinds = [Part::Arguments(CoreId::Brisc), Part::Common(CoreId::Brisc)];
        let parts = kinds.map(|part| (BASE, part)).to_vec();
        let mut configuration = Configuration::new(parts, Vec::new());
        let (_, text) = configuration
            .loaded(CoreId::Brisc, BASE + 4, |_| false)
            .expect("nobody has written it");
        assert_eq!(text, "reads argument 1, which nobody has ever written");
        assert_eq!(configuration.loaded(CoreId::Ncrisc, BASE + 4, |_| false), None);
    }

    #[test]
    fn code_that_begins_where_semaphores_would_if_there_were_any_is_no_argument() {
        let (arguments, semaphores) = (Part::Arguments(CoreId::Brisc), Part::Semaphores);
        let said = |parts: &[(u32, Part)]| {
            let parts = [&[(BASE, arguments), (BASE + 16, semaphores)], parts].concat();
            Configuration::new(parts, Vec::new()).loaded(CoreId::Brisc, BASE + 28, |_| true)
        };
        assert!(said(&[(BASE + 32, Part::Code)]).is_some());
        assert_eq!(said(&[(BASE + 16, Part::Code)]), None);
    }

    #[test]
    fn arguments_of_one_core_that_another_one_reads_too_are_given_to_one_of_them() {
        let cores = [CoreId::Brisc, CoreId::Trisc0, CoreId::Trisc1];
        let parts = cores.map(|core| (BASE, Part::Arguments(core))).to_vec();
        let mut configuration = Configuration::new(parts, Vec::new());
        let mut said = |core| configuration.loaded(core, BASE, |_| true).map(|(_, text)| text);
        assert_eq!(said(CoreId::Trisc0), None);
        assert_eq!(said(CoreId::Trisc1), None, "one kernel");
        let text = "reads argument 0, and TRISC0 has read arguments there too: only one of them was given any";
        assert_eq!(said(CoreId::Brisc).as_deref(), Some(text));
        assert_eq!(said(CoreId::Trisc0), None, "said once");
    }

    #[test]
    fn semaphores_and_what_kernels_may_read_are_no_arguments() {
        assert_eq!(said(CoreId::Ncrisc, BASE + 0x20), None);
        assert!(said(CoreId::Ncrisc, BASE + 0x24).is_some(), "between two semaphores");
        assert_eq!(said(CoreId::Ncrisc, BASE + 0x50), None);
        assert_eq!(said(CoreId::Ncrisc, BASE - 4), None);
    }

    #[test]
    fn core_without_arguments_reads_them_where_nothing_is() {
        let text = |core, addr| said(core, addr).expect("it has none");
        assert_eq!(
            text(CoreId::Brisc, NOWHERE + 4),
            "reads common argument 1, but BRISC was given none"
        );
        assert_eq!(text(CoreId::Trisc2, NOWHERE), "reads argument 0, but TRISC2 was given none");
        assert_eq!(
            text(CoreId::Ncrisc, BASE),
            "reads common argument 0, but NCRISC was given none; 0xa080 belongs to BRISC"
        );
        assert_eq!(
            text(CoreId::Trisc0, BASE + 8),
            "reads argument 2, but TRISC0 was given none; 0xa088 belongs to NCRISC"
        );
        assert_eq!(said(CoreId::Brisc, NOWHERE + 1), None);
        assert_eq!(said(CoreId::Brisc, NOWHERE + ARGUMENT_BYTES), None);
    }
}
