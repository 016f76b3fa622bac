//! Places in code that people name: functions, lines of files, addresses.

use std::collections::BTreeSet;
use std::sync::Arc;

use debugger::script::Program;
use symbols::image::{Image, SymbolKind};
use symbols::module::Module;

/// The code of a session.
pub(super) struct Places {
    /// Each with by how much it lies elsewhere than where it was linked.
    modules: Vec<(Module, u32)>,
}

impl Places {
    /// What can be read of a session's ELF files.
    pub(super) fn of(programs: &[Program]) -> Self {
        let module = |program: &Program| {
            let image = Image::parse_elf(&program.file, Arc::clone(&program.bytes)).ok()?;
            Some((Module::new(Arc::new(image)), program.bias))
        };
        Self { modules: programs.iter().filter_map(module).collect() }
    }

    /// Where a function begins, or what stands in a line of a file, in all programs: run addresses. A number is
    /// one itself.
    ///
    /// # Errors
    /// One line: there is no such place, and which is near.
    pub(super) fn find(&self, text: &str) -> Result<BTreeSet<u32>, String> {
        if let Some(address) = number(text) {
            return Ok([address].into());
        }
        let line = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        match line {
            Some((file, line)) => self.line(file, line),
            None => self.function(text),
        }
    }

    fn function(&self, name: &str) -> Result<BTreeSet<u32>, String> {
        let mut found = BTreeSet::new();
        for (module, bias) in &self.modules {
            for symbol in &module.image().symbols {
                let is_meant = symbol.kind == SymbolKind::Function
                    && (symbol.name == name || is_called(module, symbol.value, name));
                if is_meant {
                    found.insert(symbol.value.wrapping_add(*bias));
                }
            }
        }
        if found.is_empty() { Err(format!("no function {name}")) } else { Ok(found) }
    }

    fn line(&self, file: &str, line: u32) -> Result<BTreeSet<u32>, String> {
        let (mut found, mut near) = (BTreeSet::new(), None);
        for (module, bias) in &self.modules {
            let all = module.statements(0..u32::MAX).iter();
            let mut before = None;
            for statement in all.filter(|statement| *statement.file == *file) {
                // Of adjacent statements of a line the first counts.
                if statement.line == line && before != Some(line) {
                    found.insert(statement.address.wrapping_add(*bias));
                }
                if statement.line > line {
                    near = Some(near.map_or(statement.line, |near: u32| near.min(statement.line)));
                }
                before = Some(statement.line);
            }
        }
        match near {
            _ if !found.is_empty() => Ok(found),
            Some(near) => {
                Err(format!("no code at {file}:{line}; the next line with code is {near}"))
            }
            None => Err(format!("no code at {file}:{line}")),
        }
    }
}

/// Whether the function at a linked address has that name in its source.
fn is_called(module: &Module, address: u32, name: &str) -> bool {
    module.locate(address).is_some_and(|location| {
        let whole = location.inlined_into.last().unwrap_or(&location.frame);
        let bare = whole.function.split('(').next().unwrap_or_default();
        bare == name || bare.rsplit("::").next() == Some(name)
    })
}

/// A number as people write addresses.
pub(super) fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(&digits.replace('_', ""), 16).ok(),
        None => text.replace('_', "").parse().ok(),
    }
}
