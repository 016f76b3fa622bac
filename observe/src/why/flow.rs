//! Where the code of a kernel can go: which branches decide whether it comes to a place.
//!
//! The usual notion of control dependence: a branch decides a place if one way of it leads there whatever
//! happens then, and the other may lead to the end without it. Calls are gone into and come back to everybody
//! who calls; a jump to an unknown address is an end.

use isa::word;
use sim_core::{CoreId, Width};

use super::scene::Scene;

/// Longest kernel that is read, in bytes.
const LONGEST: u32 = 1 << 17;
/// Low bits of a RISC-V word; others are Tensix instructions `[isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]`.
const RISC_V: u32 = 3;
/// The link register of calls.
const LINK: u32 = 1;
const STACK_POINTER: u32 = 2;
const EBREAK: u32 = 0x0010_0073;
/// Instructions of a round of a poll, at most.
const POLL: usize = 256;

/// A conditional branch and which of its ways leads to the place that it decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decider {
    pub(super) pc: u32,
    /// Whether it leads there if it is taken.
    pub(super) taken: bool,
    /// Whether that way leads back: the branch at the end of a loop.
    pub(super) is_loop: bool,
}

/// The code of a kernel as a graph of instructions.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    start: u32,
    words: Vec<u32>,
    /// Instructions that each may lead to, by number.
    next: Vec<Vec<usize>>,
    /// The same the other way round.
    before: Vec<Vec<usize>>,
    /// Instructions with which the kernel may end.
    ends: Vec<usize>,
}

impl Flow {
    /// The kernel of a core, if it is known where it lies.
    pub(super) fn of(scene: &Scene<'_>, core: CoreId) -> Option<Self> {
        let code = scene.names.kernel_code(core)?;
        if code.is_empty() || code.end - code.start > LONGEST {
            return None;
        }
        let words = code.clone().step_by(4).map(|pc| scene.machine.l1(pc, Width::Word)).collect();
        Some(Self::new(code.start, words))
    }

    fn new(start: u32, words: Vec<u32>) -> Self {
        let count = words.len();
        let mut flow = Self {
            start,
            words,
            next: vec![Vec::new(); count],
            before: vec![Vec::new(); count],
            ends: Vec::new(),
        };
        let mut calls: Vec<(usize, usize)> = Vec::new();
        for at in 0..count {
            let (targets, call) = flow.step(at);
            calls.extend(call.map(|callee| (callee, at + 1)));
            flow.next[at] = targets;
        }
        for (callee, behind) in &calls {
            for end in flow.returns(*callee) {
                if *behind < count && !flow.next[end].contains(behind) {
                    flow.next[end].push(*behind);
                }
            }
        }
        for (callee, behind) in calls {
            // What never comes back ends there; the rest goes through the callee.
            flow.next[behind - 1] = vec![callee];
        }
        for at in 0..count {
            if flow.next[at].is_empty() {
                flow.ends.push(at);
            }
            for to in flow.next[at].clone() {
                flow.before[to].push(at);
            }
        }
        flow
    }

    fn index(&self, pc: u32) -> Option<usize> {
        let at = usize::try_from(pc.checked_sub(self.start)? / 4).ok()?;
        (at < self.words.len()).then_some(at)
    }

    fn pc(&self, at: usize) -> u32 {
        self.start + 4 * at as u32
    }

    fn is_branch(&self, at: usize) -> bool {
        self.words[at] & RISC_V == RISC_V && word::opcode(self.words[at]) == word::BRANCH
    }

    /// Where an instruction leads to, a call to what is behind it; and the function that it calls.
    fn step(&self, at: usize) -> (Vec<usize>, Option<usize>) {
        let (text, pc) = (self.words[at], self.pc(at));
        let behind = || (at + 1 < self.words.len()).then_some(at + 1);
        let only = |to: Option<usize>| to.into_iter().collect::<Vec<_>>();
        if text & RISC_V != RISC_V {
            return (only(behind()), None);
        }
        match word::opcode(text) {
            _ if text == EBREAK => (Vec::new(), None),
            word::BRANCH => {
                let taken = self.index(word::branch_target(text, pc));
                (behind().into_iter().chain(taken).collect(), None)
            }
            word::JAL => self.jump(word::rd(text), Some(word::jump_target(text, pc)), behind()),
            word::JALR => {
                // `auipc` and `jalr` are a call from afar.
                let base = at.checked_sub(1).map(|above| self.words[above]);
                let base = base.filter(|above| {
                    word::opcode(*above) == word::AUIPC && word::rd(*above) == word::rs1(text)
                });
                let target = base.map(|above| {
                    (pc - 4).wrapping_add(word::imm_u(above)).wrapping_add_signed(word::imm_i(text))
                });
                self.jump(word::rd(text), target, behind())
            }
            _ => (only(behind()), None),
        }
    }

    fn jump(
        &self,
        link: u32,
        target: Option<u32>,
        behind: Option<usize>,
    ) -> (Vec<usize>, Option<usize>) {
        let target = target.and_then(|pc| self.index(pc));
        if link == LINK {
            return (behind.into_iter().collect(), target);
        }
        (target.into_iter().collect(), None)
    }

    /// The ends of a function, with calls stepped over.
    fn returns(&self, entry: usize) -> Vec<usize> {
        let (mut seen, mut stack) = (vec![false; self.words.len()], vec![entry]);
        let mut ends = Vec::new();
        while let Some(at) = stack.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            let own = self.step(at).0;
            if own.is_empty() && word::opcode(self.words[at]) == word::JALR {
                ends.push(at);
            }
            stack.extend(own);
        }
        ends
    }

    /// Whether each instruction may lead to an end of the kernel without coming to one of `places`.
    fn escapes(&self, places: &[usize]) -> Vec<bool> {
        let mut free = vec![false; self.words.len()];
        let mut stack: Vec<usize> =
            self.ends.iter().copied().filter(|at| !places.contains(at)).collect();
        while let Some(at) = stack.pop() {
            if std::mem::replace(&mut free[at], true) {
                continue;
            }
            let above = self.before[at].iter().copied();
            stack.extend(above.filter(|at| !free[*at] && !places.contains(at)));
        }
        free
    }

    /// Whether a loop only looks: from one way of a branch straight back to it, storing and pushing
    /// nothing but what a function saves on its stack.
    fn is_poll(&self, branch: usize) -> bool {
        let target = self.index(word::branch_target(self.words[branch], self.pc(branch)));
        [Some(branch + 1), target].into_iter().flatten().any(|from| self.looks(from, branch))
    }

    fn looks(&self, from: usize, back: usize) -> bool {
        let (mut at, mut returns) = (from, Vec::new());
        for _ in 0..POLL {
            if at == back {
                return true;
            }
            let Some(&text) = self.words.get(at) else { return false };
            if text & RISC_V != RISC_V {
                return false;
            }
            match word::opcode(text) {
                word::STORE if word::rs1(text) != STACK_POINTER => return false,
                word::BRANCH => return false,
                word::JALR if word::rd(text) == 0 => match returns.pop() {
                    Some(behind) => at = behind,
                    None => return false,
                },
                word::JAL | word::JALR => {
                    let (next, callee) = self.step(at);
                    if callee.is_some() {
                        returns.push(at + 1);
                    }
                    let Some(to) = callee.or(next.first().copied()) else { return false };
                    at = to;
                }
                _ => at += 1,
            }
        }
        false
    }

    /// Instructions that one may come to from `from`, itself included.
    fn reached(&self, from: usize) -> Vec<bool> {
        let (mut seen, mut stack) = (vec![false; self.words.len()], vec![from]);
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                stack.extend(self.next[at].iter().copied().filter(|to| !seen[*to]));
            }
        }
        seen
    }

    /// Those of the places that the kernel may come to from behind `pc`, in order of addresses behind
    /// it, then before it.
    pub(super) fn ahead(&self, pc: u32, pcs: &[u32]) -> Vec<u32> {
        let Some(from) = self.index(pc) else { return Vec::new() };
        let mut reached = vec![false; self.words.len()];
        for &next in &self.next[from] {
            for (at, seen) in self.reached(next).into_iter().enumerate() {
                reached[at] |= seen;
            }
        }
        let is_reached = |pc: &u32| self.index(*pc).is_some_and(|at| reached[at]);
        let mut found: Vec<u32> = pcs.iter().copied().filter(is_reached).collect();
        found.sort_by_key(|at| (*at < pc, *at));
        found
    }

    /// Branches of the innermost loop around a place that decide nothing about whether it is come to:
    /// those of which one way may have left it out for a round.
    pub(super) fn beside(&self, place: u32, decided: &[Decider]) -> Vec<u32> {
        let Some(at) = self.index(place) else { return Vec::new() };
        let (ahead, is_known) = (self.reached(at), |pc| decided.iter().any(|one| one.pc == pc));
        let branches = (0..self.words.len()).filter(|branch| self.is_branch(*branch));
        let around = branches.filter(|branch| ahead[*branch] && self.reached(*branch)[at]);
        around
            .filter(|branch| !self.is_poll(*branch))
            .map(|branch| self.pc(branch))
            .filter(|pc| !is_known(*pc))
            .collect()
    }

    /// The branches that decide whether the kernel comes to one of these places, and those that decide
    /// about them, nearest first.
    pub(super) fn deciders(&self, pcs: &[u32], most: usize) -> Vec<Decider> {
        let mut found: Vec<Decider> = Vec::new();
        let mut places: Vec<Vec<usize>> =
            vec![pcs.iter().filter_map(|pc| self.index(*pc)).collect()];
        while let Some(own) = places.pop().filter(|_| found.len() < most) {
            if own.is_empty() {
                continue;
            }
            let free = self.escapes(&own);
            for at in (0..self.words.len()).filter(|at| self.is_branch(*at)) {
                let pc = self.pc(at);
                let target = word::branch_target(self.words[at], pc);
                let (Some(to), behind) = (self.index(target), at + 1) else { continue };
                if behind >= self.words.len() || free[to] == free[behind] {
                    continue;
                }
                let taken = free[behind];
                let is_loop = taken && target <= pc;
                let decider = Decider { pc, taken, is_loop };
                if !found.contains(&decider) && !own.contains(&at) && !self.is_poll(at) {
                    found.push(decider);
                    places.insert(0, vec![at]);
                }
            }
        }
        found.truncate(most);
        found
    }
}

#[cfg(test)]
mod tests {
    use isa::asm;

    use super::*;

    const START: u32 = 0x1000;
    const NOP: u32 = 0x13;
    const RET: u32 = 0x0000_8067;

    fn deciders(words: &[u32], pcs: &[u32]) -> Vec<Decider> {
        Flow::new(START, words.to_vec()).deciders(pcs, 8)
    }

    /// `for (i = 0; i < n; i++) { while (poll) {} if (x) continue; S; }`
    #[test]
    fn loop_and_condition_decide_and_a_poll_in_front_does_not() {
        let words = [
            NOP,
            asm::bne(5, 6, 0),   // 0x1004: a poll
            asm::beq(7, 0, 8),   // 0x1008: leaves out
            NOP,                 // 0x100c: the place
            asm::bne(8, 9, -12), // 0x1010: the loop
            RET,
        ];
        let found = deciders(&words, &[0x100C]);
        assert_eq!(
            found,
            [
                Decider { pc: 0x1008, taken: false, is_loop: false },
                Decider { pc: 0x1010, taken: true, is_loop: true }
            ]
        );
    }

    /// The loop around a call decides about what the callee does.
    #[test]
    fn loop_around_a_call_decides_what_the_callee_does() {
        let words = [
            asm::jal(1, 16),    // 0x1000: calls 0x1010
            asm::bne(8, 9, -4), // 0x1004: the loop
            NOP,
            asm::jal(0, 0),   // 0x100c: for ever
            asm::sw(6, 5, 0), // 0x1010: the place
            RET,
        ];
        let words = [&words[..], &[RET]].concat();
        let found = deciders(&words, &[0x1010]);
        assert!(found.is_empty(), "what goes round for ever is no end: {found:?}");
        let mut ends = words.clone();
        ends[3] = EBREAK;
        let found = deciders(&ends, &[0x1010]);
        assert_eq!(found, [Decider { pc: 0x1004, taken: true, is_loop: true }]);
    }

    /// `for (;;) { if (x) y = 6; S; if (++y == 9) break; }`: the condition decides nothing about S, but leaves
    /// out rounds of it.
    #[test]
    fn branch_within_the_loop_is_beside_the_place() {
        let words = [
            asm::bne(5, 6, 8),   // 0x1000: a condition
            NOP,                 // 0x1004
            NOP,                 // 0x1008: the place
            asm::bne(8, 9, -12), // 0x100c: the loop
            RET,
        ];
        let flow = Flow::new(START, words.to_vec());
        let decided = flow.deciders(&[0x1008], 8);
        assert_eq!(decided, [Decider { pc: 0x100C, taken: true, is_loop: true }]);
        assert_eq!(flow.beside(0x1008, &decided), [0x1000]);
        assert_eq!(flow.ahead(0x100C, &[0x1008, 0x1010]), [0x1010, 0x1008]);
    }

    #[test]
    fn place_that_is_always_reached_is_decided_by_nobody() {
        assert_eq!(deciders(&[NOP, asm::beq(5, 6, 8), NOP, NOP, RET], &[0x100C]), []);
    }
}
