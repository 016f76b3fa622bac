//! Lane predication: flags, the switch that makes them count, and the stack of both.
//!
//! Sources: `[isa-bh: TensixCoprocessor/VectorUnit.md]`, `SFPENCC.md`, `SFPPUSHC.md`, `SFPPOPC.md`,
//! `[isa-wh: TensixCoprocessor/SFPSETCC.md]`, `SFPCOMPC.md`. Everything is a lane set: bit *i* is
//! lane *i*.

/// Entries of a lane's stack.
pub(super) const STACK_DEPTH: usize = 8;

/// One level of every lane's stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Level {
    /// Lanes whose stack reaches this level.
    pub(crate) present: u32,
    pub(crate) flags: u32,
    pub(crate) used: u32,
}

/// Predication state of all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Predicate {
    pub(crate) flags: u32,
    /// `UseLaneFlagsForLaneEnable`.
    pub(crate) used: u32,
    /// Top first.
    pub(crate) stack: [Level; STACK_DEPTH],
}

/// `old` with the lanes of `set` as in `new`.
pub(super) const fn merge(old: u32, set: u32, new: u32) -> u32 {
    old & !set | new & set
}

/// Two-operand function number 1 to 12 of SFPPUSHC and SFPPOPC.
const fn boolean(function: u32, a: u32, b: u32) -> u32 {
    match function {
        1 => b,
        2 => !b,
        3 => a & b,
        4 => a | b,
        5 => a & !b,
        6 => a | !b,
        7 => !a & b,
        8 => !a | b,
        9 => !(a | b),
        10 => !(a & b),
        11 => a ^ b,
        _ => !(a ^ b),
    }
}

impl Predicate {
    /// After reset every lane is enabled. The page says because flags are not in use; in the
    /// reference they are in use and all set, as firmware's first SFPENCC leaves them, and SFPSETCC
    /// works at once `[unknown: U-053]`.
    pub(super) const RESET: Self =
        Self { flags: u32::MAX, used: u32::MAX, stack: [Level::EMPTY; STACK_DEPTH] };

    /// Lanes that predication lets execute.
    #[inline]
    pub(super) const fn enabled(&self) -> u32 {
        self.flags | !self.used
    }

    pub(super) fn set_flags(&mut self, lanes: u32, flags: u32) {
        self.flags = merge(self.flags, lanes, flags);
    }

    /// SFPENCC with its two-bit immediate.
    pub(super) fn encc(&mut self, lanes: u32, mod1: u32, imm: u32) {
        let all = |bit: u32| if bit != 0 { u32::MAX } else { 0 };
        if mod1 & 2 != 0 {
            self.used = merge(self.used, lanes, all(imm & 1));
        } else if mod1 & 1 != 0 {
            self.used ^= lanes;
        }
        let flags = if mod1 & 8 != 0 { all(imm & 2) } else { u32::MAX };
        self.set_flags(lanes, flags);
    }

    /// SFPSETCC: `value` is what mode and operand ask for; it needs the flags to be in use.
    pub(super) fn setcc(&mut self, lanes: u32, value: u32) {
        self.set_flags(lanes, value & self.used);
    }

    /// SFPCOMPC: an empty stack counts as all true.
    pub(super) fn compc(&mut self, lanes: u32) {
        let top = self.stack[0];
        let (flags, used) = (top.flags | !top.present, top.used | !top.present);
        self.set_flags(lanes, flags & used & self.used & !self.flags);
    }

    /// SFPPUSHC; false, and nothing happens, if a lane's stack is full (plain push) or empty.
    #[must_use]
    pub(super) fn pushc(&mut self, lanes: u32, mod1: u32) -> bool {
        if mod1 == 0 {
            if self.stack[STACK_DEPTH - 1].present & lanes != 0 {
                return false;
            }
            for level in (1..STACK_DEPTH).rev() {
                self.stack[level] = self.stack[level].replaced(lanes, self.stack[level - 1]);
            }
            let entry = Level { present: u32::MAX, flags: self.flags, used: self.used };
            self.stack[0] = self.stack[0].replaced(lanes, entry);
            return true;
        }
        if !self.stack[0].present & lanes != 0 {
            return false;
        }
        let (flags, used) = match mod1 {
            13 => {
                self.flags ^= lanes;
                (self.flags, self.used)
            }
            14 => (u32::MAX, u32::MAX),
            15 => (0, u32::MAX),
            function => (boolean(function, self.stack[0].flags, self.flags), self.used),
        };
        self.stack[0] = self.stack[0].replaced(lanes, Level { present: u32::MAX, flags, used });
        true
    }

    /// SFPPOPC; false, and nothing happens, if a plain pop finds a lane's stack empty.
    #[must_use]
    pub(super) fn popc(&mut self, lanes: u32, mod1: u32) -> bool {
        let top = self.stack[0];
        let (top_flags, top_used) = (top.flags & top.present, top.used & top.present);
        let (flags, used) = match mod1 {
            0 => {
                if !top.present & lanes != 0 {
                    return false;
                }
                for level in 0..STACK_DEPTH {
                    let below = self.stack.get(level + 1).copied().unwrap_or_default();
                    self.stack[level] = self.stack[level].replaced(lanes, below);
                }
                (top_flags, top_used)
            }
            13 => (!self.flags, self.used),
            14 => (u32::MAX, u32::MAX),
            15 => (0, u32::MAX),
            function => (boolean(function, self.flags, top_flags), top_used),
        };
        self.set_flags(lanes, flags);
        self.used = merge(self.used, lanes, used);
        true
    }

    /// SFPLE and SFPGT: combines the top of the stack, where there is one, with `value`.
    pub(super) fn mutate_top(&mut self, lanes: u32, or: bool, value: u32) {
        let top = &mut self.stack[0];
        let flags = if or { top.flags | value } else { top.flags & value };
        top.flags = merge(top.flags, lanes & top.present, flags);
    }

    pub(crate) fn hash_state(&self, hasher: &mut sim_core::StateHasher) {
        let Self { flags, used, stack } = self;
        hasher.words(&[*flags, *used]);
        for &Level { present, flags, used } in stack {
            hasher.words(&[present, flags & present, used & present]);
        }
    }
}

impl Level {
    const EMPTY: Self = Self { present: 0, flags: 0, used: 0 };

    const fn replaced(self, lanes: u32, by: Self) -> Self {
        Self {
            present: merge(self.present, lanes, by.present),
            flags: merge(self.flags, lanes, by.flags),
            used: merge(self.used, lanes, by.used),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = u32::MAX;

    #[test]
    fn nested_conditions_restore_the_outer_ones() {
        // [isa-bh: SFPPUSHC.md, SFPPOPC.md] if / else / endif.
        let mut lanes = Predicate { flags: ALL, used: ALL, ..Predicate::default() };
        assert!(lanes.pushc(ALL, 0));
        lanes.setcc(lanes.enabled(), 0x0F0F_0F0F);
        assert_eq!(lanes.enabled(), 0x0F0F_0F0F);
        lanes.compc(ALL);
        assert_eq!(lanes.enabled(), 0xF0F0_F0F0);
        assert!(lanes.popc(ALL, 0));
        assert_eq!((lanes.enabled(), lanes.stack[0].present), (ALL, 0));
    }

    #[test]
    fn stack_holds_eight_levels_and_no_more() {
        let mut lanes = Predicate { used: ALL, ..Predicate::default() };
        for level in 0..8 {
            lanes.flags = 1 << level;
            assert!(lanes.pushc(ALL, 0));
        }
        assert!(!lanes.pushc(ALL, 0));
        for level in (0..8).rev() {
            assert!(lanes.popc(ALL, 0));
            assert_eq!(lanes.flags, 1 << level);
        }
        assert!(!lanes.popc(ALL, 0) && !lanes.pushc(ALL, 3));
    }

    #[test]
    fn setcc_without_flags_in_use_clears_them() {
        // [isa-wh: SFPSETCC.md]
        let mut lanes = Predicate { flags: ALL, used: 0xFFFF, ..Predicate::default() };
        lanes.setcc(ALL, ALL);
        assert_eq!(lanes.flags, 0xFFFF);
    }

    #[test]
    fn boolean_functions_have_the_documented_truth_tables() {
        // [isa-bh: SFPPOPC.md], functions 1 to 12 for (A, B) = 11, 10, 01, 00.
        let tables = [10, 5, 8, 14, 4, 13, 2, 11, 1, 7, 6, 9];
        for (function, table) in (1..).zip(tables) {
            assert_eq!(boolean(function, 0b1100, 0b1010) & 0xF, table, "function {function}");
        }
    }
}
