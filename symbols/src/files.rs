//! Source files: what a path says about who wrote the file, and the text of a line.
//!
//! A kernel is compiled as part of a wrapper (`trisck.cc` includes the kernel's file) together with
//! a library of headers, all of it inlined. Which frame its author knows can only be told by path.
//! Sources: line tables of kernels built by ttnn 0.81.1 and by its LLK tests; wrappers:
//! `[hdr: hw/firmware/src/tt-1xx/trisck.cc]`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sim_core::sync::Mutex;

use crate::catalog::store::Store;

/// Whose file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A source file of the kernel's or the firmware's author.
    Source,
    /// A header of the same.
    Header,
    /// What makes a program of a kernel: the vendor's file for that, or assembly.
    Wrapper,
    /// A header or a source of the vendor's library, the compiler or the C library.
    Library,
}

/// Parts of paths that only the files of a library, or such as the host wrote, have.
const LIBRARY: [&str; 21] = [
    "/usr/",
    "/include/",
    "/inc/",
    "/sfpi/",
    "/newlib/",
    "/picolibc/",
    "/lib/gcc/",
    "/tt_metal/api/",
    "/tt_metal/hw/ckernels/",
    "/tt_metal/hw/toolchain/",
    "/hw/firmware/src/tt-1xx/blackhole/",
    "/tt_metal/hostdevcommon/",
    "/tt_metal/fabric/",
    "/tt_llk_blackhole/",
    "/tt_llk_wormhole_b0/",
    "/llk_lib/",
    "/tt-llk/common/",
    "/kernel_lib/",
    "/tt-llk-build/",
    "/chlkc_descriptors.h",
    "/defines_generated.h",
];
/// Endings of source files; everything else is a header, as `<type_traits>` has no ending at all.
const SOURCE: [&str; 6] = [".cpp", ".cc", ".c", ".cxx", ".S", ".s"];

/// Whose file a path of a line table is.
#[must_use]
pub fn role(path: &str) -> Role {
    let path = format!("/{}", normal(path));
    let file = path.rsplit('/').next().unwrap_or_default();
    // `<artificial>` and `<stdin>` stand for no file.
    if file.is_empty() || file.starts_with('<') || LIBRARY.iter().any(|part| path.contains(part)) {
        return Role::Library;
    }
    let stem = SOURCE.iter().find_map(|end| file.strip_suffix(end));
    // brisck.cc, ncrisck.cc, trisck.cc; firmware is brisc.cc and so on. LLK tests have helpers.
    let wraps = path.contains("/hw/firmware/src/") && stem.is_some_and(|stem| stem.ends_with('k'));
    match stem {
        Some(_) if wraps || path.contains("/tests/helpers/") => Role::Wrapper,
        // Assembly starts programs; where all is assembly nothing is inlined.
        Some(_) if file.ends_with(".S") || file.ends_with(".s") => Role::Wrapper,
        Some(_) => Role::Source,
        None if path.contains("/tt_metal/hw/") || path.contains("/tests/helpers/") => Role::Library,
        None => Role::Header,
    }
}

/// A path without `//`, `.` and, where a directory stands before it, `..`.
#[must_use]
pub fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Whether a path of a line table means the file that somebody else calls `name`, perhaps by less
/// of its path.
#[must_use]
pub fn is_file(path: &str, name: &str) -> bool {
    let (path, name) = (normal(path), normal(name));
    let head = path.strip_suffix(&name).filter(|_| !name.is_empty());
    head.is_some_and(|head| head.is_empty() || head.ends_with('/') && !name.starts_with('/'))
}

/// The text of a file that a line table names by a path that does not begin at the root: below one of
/// these directories, by the whole of its path, else by as much of its end as there is.
#[must_use]
pub fn below(path: &str, roots: &[PathBuf]) -> Option<PathBuf> {
    let path = normal(path);
    let parts: Vec<&str> =
        path.split('/').filter(|part| !part.is_empty() && *part != "..").collect();
    let ends = (0..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
    let mut candidates = ends.flat_map(|end| roots.iter().map(move |root| root.join(&end)));
    candidates.find(|file| file.is_file())
}

/// The text of source files, read once.
#[derive(Debug, Default)]
pub struct SourceText {
    store: Arc<Store>,
    known: Mutex<HashMap<String, Option<Arc<str>>>>,
}

impl SourceText {
    /// Text from where a catalog has its files.
    pub(crate) fn of(store: Arc<Store>) -> Self {
        Self { store, known: Mutex::default() }
    }

    /// The text of a file, by the path of a line table.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<Arc<str>> {
        if let Some(known) = self.known.lock().get(path) {
            return known.clone();
        }
        let bytes = self.store.read(Path::new(path));
        let bytes = bytes.or_else(|| self.store.read(Path::new(&normal(path))));
        let text = bytes.map(|bytes| Arc::from(String::from_utf8_lossy(&bytes)));
        self.known.lock().insert(path.to_owned(), text.clone());
        text
    }

    /// Line `line` of a file, from 1, without the spaces around it.
    #[must_use]
    pub fn line(&self, path: &str, line: u32) -> Option<String> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        self.file(path)?.lines().nth(index).map(|text| text.trim().to_owned())
    }

    /// Line `line` of a file, from 1, as it is written.
    #[must_use]
    pub fn whole_line(&self, path: &str, line: u32) -> Option<String> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        self.file(path)?.lines().nth(index).map(|text| text.trim_end().to_owned())
    }
}
