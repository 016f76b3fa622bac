//! From executed instructions to function slices: a call stack per core.
//!
//! Only jumps are looked at. A call (`jal` or `jalr` that links in `ra` or `t0`) opens a slice, a
//! return closes it; a jump into another function replaces the innermost slice, or, if that
//! function is on the stack, returns to it.

use isa::word::{JAL, JALR, opcode, rd, rs1};
use sim_core::{CoreId, Retire};

use crate::cache::Cache;
use crate::names::Names;

/// Deepest stack that is drawn.
const DEEPEST: usize = 64;

/// What a retired instruction means for the slices: first this many close, then perhaps one opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Change {
    pub(super) close: usize,
    pub(super) open: Option<usize>,
}

/// The stack of one core.
#[derive(Clone, Debug)]
pub(super) struct Functions {
    core: CoreId,
    previous: Option<(u32, u32)>,
    stack: Vec<usize>,
    names: Vec<String>,
    by_pc: Cache<(u32, u32), usize>,
}

impl Functions {
    pub(super) fn new(core: CoreId) -> Self {
        let (names, by_pc) = (Vec::new(), Cache::default());
        Self { core, previous: None, stack: Vec::new(), names, by_pc }
    }

    pub(super) fn name(&self, index: usize) -> &str {
        self.names.get(index).map_or("?", String::as_str)
    }

    /// Forgets where the core was; how many slices close.
    pub(super) fn reset(&mut self) -> usize {
        self.previous = None;
        std::mem::take(&mut self.stack).len()
    }

    fn function(&mut self, pc: u32, names: &dyn Names) -> usize {
        let (core, known) = (self.core, &mut self.names);
        *self.by_pc.get((names.generation(), pc), || {
            let name = names.function(core, pc).unwrap_or_else(|| format!("{pc:#x}"));
            known.iter().position(|one| *one == name).unwrap_or_else(|| {
                known.push(name);
                known.len() - 1
            })
        })
    }

    /// Whether all there is to an instruction is that it comes after another one.
    pub(super) fn passes(before: &Retire, retire: &Retire) -> bool {
        before.pc.wrapping_add(4) == retire.pc
    }

    /// The last of some instructions of which the first was taken note of and the others pass.
    pub(super) const fn skip_to(&mut self, last: &Retire) {
        self.previous = Some((last.pc, last.word));
    }

    pub(super) fn retire(&mut self, retire: &Retire, names: &dyn Names) -> Change {
        let previous = self.previous.replace((retire.pc, retire.word));
        if previous.is_some_and(|(pc, _)| pc.wrapping_add(4) == retire.pc) {
            return Change::default();
        }
        let function = self.function(retire.pc, names);
        let word = previous.map_or(0, |(_, word)| word);
        if is_call(word) && self.stack.len() < DEEPEST {
            self.stack.push(function);
            return Change { close: 0, open: Some(function) };
        }
        let mut close = 0;
        if is_return(word) && self.stack.len() > 1 {
            self.stack.pop();
            close = 1;
        }
        if self.stack.last() == Some(&function) {
            return Change { close, open: None };
        }
        if let Some(at) = self.stack.iter().rposition(|&known| known == function) {
            close += self.stack.len() - at - 1;
            self.stack.truncate(at + 1);
            return Change { close, open: None };
        }
        close += usize::from(self.stack.pop().is_some());
        self.stack.push(function);
        Change { close, open: Some(function) }
    }
}

const fn links(word: u32) -> bool {
    matches!(rd(word), 1 | 5)
}

const fn is_call(word: u32) -> bool {
    matches!(opcode(word), JAL | JALR) && links(word)
}

const fn is_return(word: u32) -> bool {
    opcode(word) == JALR && !links(word) && matches!(rs1(word), 1 | 5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Cycle;

    struct ByHundred;

    impl Names for ByHundred {
        fn function(&self, _: CoreId, pc: u32) -> Option<String> {
            Some(format!("f{}", pc >> 8))
        }
    }

    /// Words from the RISC-V manual: `jal ra, +0x100`, `ret`, `j`, `nop`.
    #[test]
    fn calls_open_returns_close_and_jumps_replace() {
        const JAL: u32 = 0x1000_00EF;
        const RET: u32 = 0x0000_8067;
        const J: u32 = 0x0000_006F;
        const NOP: u32 = 0x13;
        let mut functions = Functions::new(CoreId::Brisc);
        let mut step = |pc, word| {
            let retire = Retire { cycle: Cycle(0), pc, word, rd: 0, value: 0 };
            functions.retire(&retire, &ByHundred)
        };
        assert_eq!(step(0x100, NOP), Change { close: 0, open: Some(0) });
        assert_eq!(step(0x104, JAL), Change::default());
        assert_eq!(step(0x204, NOP), Change { close: 0, open: Some(1) });
        assert_eq!(step(0x208, J), Change::default());
        assert_eq!(step(0x300, RET), Change { close: 1, open: Some(2) });
        assert_eq!(step(0x108, J), Change { close: 1, open: None });
        assert_eq!(step(0x100, NOP), Change::default());
    }
}
