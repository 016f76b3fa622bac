//! From executed jumps to function slices: a call stack per core.
//!
//! A call (`jal` or `jalr` that links in `ra` or `t0`) opens a slice, a return closes it; a jump into
//! another function replaces the innermost slice, or, if that function is on the stack, returns to
//! it. Branches stay in their function: compilers leave one by a jump.

use sim_core::{CoreId, Jump, JumpKind};

use crate::cache::Cache;
use crate::names::Names;

/// Deepest stack that is drawn.
const DEEPEST: usize = 64;

/// What a jump means for the slices: first this many close, then perhaps one opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Change {
    pub(super) close: usize,
    pub(super) open: Option<usize>,
}

/// The stack of one core.
#[derive(Clone, Debug)]
pub(super) struct Functions {
    core: CoreId,
    stack: Vec<usize>,
    names: Vec<String>,
    by_pc: Cache<(u32, u32), usize>,
}

impl Functions {
    pub(super) fn new(core: CoreId) -> Self {
        let (names, by_pc) = (Vec::new(), Cache::default());
        Self { core, stack: Vec::new(), names, by_pc }
    }

    pub(super) fn name(&self, index: usize) -> &str {
        self.names.get(index).map_or("?", String::as_str)
    }

    /// Forgets where the core was; how many slices close.
    pub(super) fn reset(&mut self) -> usize {
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

    /// The core starts there; the name of its first slice.
    pub(super) fn start(&mut self, pc: u32, names: &dyn Names) -> &str {
        let function = self.function(pc, names);
        self.stack.push(function);
        self.name(function)
    }

    pub(super) fn jump(&mut self, jump: &Jump, names: &dyn Names) -> Change {
        let function = self.function(jump.to, names);
        if jump.kind == JumpKind::Call && self.stack.len() < DEEPEST {
            self.stack.push(function);
            return Change { close: 0, open: Some(function) };
        }
        let mut close = 0;
        if jump.kind == JumpKind::Return && self.stack.len() > 1 {
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

    #[test]
    fn calls_open_returns_close_and_jumps_replace() {
        let mut functions = Functions::new(CoreId::Brisc);
        assert_eq!(functions.start(0x100, &ByHundred), "f1");
        let mut jump = |to, kind| {
            let jump = Jump { cycle: Cycle(0), pc: 0, to, kind };
            functions.jump(&jump, &ByHundred)
        };
        assert_eq!(jump(0x204, JumpKind::Call), Change { close: 0, open: Some(1) });
        assert_eq!(jump(0x220, JumpKind::Plain), Change::default());
        assert_eq!(jump(0x300, JumpKind::Plain), Change { close: 1, open: Some(2) });
        assert_eq!(jump(0x108, JumpKind::Return), Change { close: 1, open: None });
        assert_eq!(jump(0x100, JumpKind::Plain), Change::default());
    }
}
