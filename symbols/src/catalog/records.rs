//! The small files in which ttnn says which kernel is what: `generated/watcher/*.txt` and
//! `generated/inspector/*.yaml` `[spec: live-sessions]`.
//!
//! They are read line by line, and a line that cannot be read adds nothing: the host may be writing
//! the file, or have died while doing so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sim_core::CoreId;

use super::places::key;

/// One kernel as the host names it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Record {
    /// Name without path.
    pub(super) name: Option<String>,
    /// Directory of the built kernel, without the core's.
    pub(super) directory: Option<String>,
    /// Source file.
    pub(super) source: Option<String>,
    /// ELF files, one or one per TRISC.
    pub(super) elfs: Vec<String>,
    /// The host's number of the program it was compiled for.
    pub(super) program: Option<u64>,
}

impl Record {
    /// Its ELF files as they were linked.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        if !self.elfs.is_empty() {
            return self.elfs.iter().map(PathBuf::from).collect();
        }
        // The directory alone does not say which cores have one.
        let built = |directory: &String, core| {
            let key = key(core);
            PathBuf::from(format!("{directory}/{key}/{key}.elf"))
        };
        let of = |directory| CoreId::ALL.map(|core| built(directory, core));
        self.directory.iter().flat_map(of).collect()
    }
}

/// The file that was loaded, which lies beside the one that was linked.
pub(super) fn loaded(linked: &Path) -> PathBuf {
    let mut path = linked.as_os_str().to_owned();
    path.push(".xip.elf");
    PathBuf::from(path)
}

/// Kernels by watcher kernel id.
pub(super) type Records = BTreeMap<u16, Record>;

/// One run of an operation as the host names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The operation's type in the host's program, such as `MatmulDeviceOperation`.
    pub name: String,
    /// Its tensors, if the host was told to write them down.
    pub parameters: Option<String>,
}

/// Operations by the number that launch messages carry as `host_assigned_id`.
pub(super) type Operations = BTreeMap<u32, Operation>;

/// So much of a file is read, from its end: the newest.
const MAX_BYTES: usize = 64 << 20;

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(MAX_BYTES)..])
}

/// `3: text` on each line.
fn numbered(bytes: &[u8]) -> Vec<(u16, String)> {
    let text = text(bytes);
    let entry = |line: &str| {
        let (id, rest) = line.split_once(':')?;
        let id: u16 = id.trim().parse().ok()?;
        let rest = rest.trim();
        // Id 0 is no kernel.
        (id != 0 && !rest.is_empty()).then(|| (id, rest.to_owned()))
    };
    text.lines().filter_map(entry).collect()
}

/// `kernel_elf_paths.txt`: the ELF files of a kernel, between colons.
pub(super) fn elf_paths(bytes: &[u8], records: &mut Records) {
    for (id, paths) in numbered(bytes) {
        // A path may hold a colon; it ends where `.elf` does.
        let mut elfs = vec![String::new()];
        for part in paths.split(':') {
            match elfs.last_mut() {
                Some(open) if !open.is_empty() && !open.ends_with(".elf") => {
                    open.push(':');
                    open.push_str(part);
                }
                Some(open) if open.is_empty() => open.push_str(part),
                _ => elfs.push(part.to_owned()),
            }
        }
        elfs.retain(|path| path.ends_with(".elf"));
        if !elfs.is_empty() {
            records.entry(id).or_default().elfs = elfs;
        }
    }
}

/// `kernel_names.txt`: the source file of a kernel.
pub(super) fn names(bytes: &[u8], records: &mut Records) {
    for (id, source) in numbered(bytes) {
        let record = records.entry(id).or_default();
        record.source.get_or_insert(source);
    }
}

/// `kernels.yaml`, or the same keys in `programs_log.yaml`.
pub(super) fn inspector(bytes: &[u8], records: &mut Records) {
    for entry in entries(bytes) {
        let Some(id) = entry.number("watcher_kernel_id").and_then(|id| u16::try_from(id).ok())
        else {
            continue;
        };
        if id == 0 {
            continue;
        }
        let record = records.entry(id).or_default();
        let mut take = |key: &str, to: fn(&mut Record) -> &mut Option<String>| {
            if let Some(value) = entry.get(key).filter(|value| !value.is_empty()) {
                *to(record) = Some(value.to_owned());
            }
        };
        take("name", |record| &mut record.name);
        take("path", |record| &mut record.directory);
        take("source", |record| &mut record.source);
        record.program =
            entry.number("program_id").or_else(|| entry.number("id")).or(record.program);
    }
}

/// `mesh_workloads_log.yaml` of a host that runs with `TT_METAL_INSPECTOR_LOG_RUNTIME_ENTRIES`:
/// `runtime_id` is what the launch messages of that run carry.
pub(super) fn workloads(bytes: &[u8], operations: &mut Operations) {
    for entry in entries(bytes) {
        let id = entry.number("runtime_id").and_then(|id| u32::try_from(id).ok());
        let (Some(id), Some(name)) = (id, entry.get("name").filter(|name| !name.is_empty())) else {
            continue;
        };
        let parameters = entry.get("parameters").filter(|text| !text.is_empty());
        let parameters = parameters.map(str::to_owned);
        operations.insert(id, Operation { name: name.to_owned(), parameters });
    }
}

/// One element of the lists that the inspector writes: `- kind:` and indented `key: value` lines.
#[derive(Debug, Default)]
struct Entry {
    values: Vec<(String, String)>,
}

impl Entry {
    fn get(&self, key: &str) -> Option<&str> {
        self.values.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.parse().ok()
    }
}

fn entries(bytes: &[u8]) -> Vec<Entry> {
    let text = text(bytes);
    let mut found: Vec<Entry> = Vec::new();
    for line in text.lines() {
        if line.starts_with("- ") {
            found.push(Entry::default());
            continue;
        }
        let (Some(entry), Some((key, value))) = (found.last_mut(), line.split_once(':')) else {
            continue;
        };
        if line.starts_with(' ') {
            entry.values.push((key.trim().to_owned(), scalar(value.trim())));
        }
    }
    found
}

/// A plain or quoted YAML scalar.
fn scalar(value: &str) -> String {
    for quote in ['\'', '"'] {
        let inner = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            let escape = if quote == '"' { "\\\"" } else { "''" };
            return inner.replace(escape, &quote.to_string());
        }
    }
    value.to_owned()
}
