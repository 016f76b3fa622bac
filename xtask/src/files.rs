//! The text files of the repository, read once.

use std::fs;
use std::path::{Path, PathBuf};

use crate::strip::strip;

/// A file that is text.
pub(crate) struct TextFile {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Of a Rust file: the text without comments and literals, line by line the same. Else empty.
    pub(crate) code: String,
}

impl TextFile {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The crate's folder: `isa/codegen` for `isa/codegen/src/lib.rs`.
    pub(crate) fn crate_dir(&self) -> &str {
        let end = ["/src/", "/tests/", "/benches/", "/build.rs"]
            .iter()
            .filter_map(|room| self.path.find(room))
            .min();
        end.map_or("", |end| &self.path[..end])
    }

    /// Code below `src/` without what only tests see; empty for other files.
    pub(crate) fn shipped_code(&self) -> &str {
        let room = self.path.strip_prefix(self.crate_dir()).unwrap_or_default();
        let test = room.ends_with("/tests.rs") || room.contains("/tests/");
        if test || !room.starts_with("/src/") {
            return "";
        }
        &self.code[..self.code.find("#[cfg(test)]").unwrap_or(self.code.len())]
    }

    /// Whether it belongs to a library, not to a program.
    pub(crate) fn is_library(&self) -> bool {
        let room = self.path.strip_prefix(self.crate_dir()).unwrap_or_default();
        !room.starts_with("/src/bin/") && room != "/src/main.rs"
    }
}

/// Everything the checks look at.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    /// By path.
    pub(crate) files: Vec<TextFile>,
}

impl Tree {
    /// Reads the repository this program was built from.
    pub(crate) fn read() -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
        let mut tree = Self { root: root.clone(), files: Vec::new() };
        tree.walk(&root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    pub(crate) fn text(&self, path: &str) -> Result<&str, String> {
        let file = self.files.iter().find(|file| file.path == path);
        file.map(|file| file.text.as_str()).ok_or_else(|| format!("{path} is missing"))
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    fn walk(&mut self, dir: &Path, prefix: &str) -> Result<(), String> {
        let fail = |error: std::io::Error| format!("{}: {error}", dir.display());
        for entry in fs::read_dir(dir).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let hidden = name.starts_with('.') && ![".ci", ".cargo"].contains(&name.as_str());
            if hidden || name == "target" {
                continue;
            }
            let (path, full) = (format!("{prefix}{name}"), entry.path());
            if full.is_dir() {
                self.walk(&full, &format!("{path}/"))?;
            } else if let Ok(text) = fs::read_to_string(&full) {
                let code = if name.ends_with(".rs") { strip(&text) } else { String::new() };
                self.files.push(TextFile { path, text, code });
            }
        }
        Ok(())
    }
}
