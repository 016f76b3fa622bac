//! Takes the Blackhole Tensix firmware out of a wheel. A set is a directory below `pre-compiled/`
//! with a `drisc/` in it: only Blackhole has DRAM cores `[spec: boot-and-sync 1.1]`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use zip::ZipArchive;

use super::{CachedFile, CachedSet, Interrupt, MANIFEST_FORMAT, Manifest, sha256};
use loader::firmware::{FirmwareSet, identify};
use loader::layout::{MESSAGE_ORDER, key};

/// No firmware ELF comes near this size.
const MAX_ELF_BYTES: u64 = 16 << 20;

/// Extracts every set into `target` and describes them.
///
/// # Errors
/// One line that starts with the wheel's path: not a wheel, truncated, no Blackhole firmware,
/// a set with a missing or unusable ELF.
pub(super) fn extract(wheel: &Path, target: &Path, interrupt: &Interrupt) -> Result<Manifest> {
    let shown = wheel.display().to_string();
    let file = fs::File::open(wheel).with_context(|| format!("{shown}: cannot open"))?;
    let mut archive = ZipArchive::new(std::io::BufReader::new(file))
        .map_err(|error| anyhow!("{shown}: not a complete wheel: {error}"))?;
    let names: Vec<String> =
        archive.file_names().flatten().map(std::borrow::Cow::into_owned).collect();
    let version = version(&names).with_context(|| format!("{shown}: not a ttnn wheel"))?;
    let sets = set_prefixes(&names);
    if sets.is_empty() {
        bail!("{shown}: holds no Blackhole firmware (no pre-compiled/*/drisc/)");
    }
    let progress = ProgressBar::new(sets.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} sets") {
        progress.set_style(style);
    }
    progress.set_message("extracting");
    let mut store = Store { target, by_hash: BTreeMap::new() };
    let mut described = Vec::with_capacity(sets.len());
    for (id, prefix) in sets {
        interrupt.check()?;
        let mut files = Vec::new();
        for core in MESSAGE_ORDER.map(key) {
            let name = format!("{prefix}{core}/{core}.elf");
            let bytes = read_member(&mut archive, &name).with_context(|| shown.clone())?;
            files.push(store.put(&format!("{id}/{core}/{core}.elf"), &bytes)?);
        }
        // Paths in the temporary directory mean nothing to the user.
        let set = FirmwareSet::read(&target.join(&id))
            .map_err(|error| anyhow!("{shown}: set {id}: {}", relative(&error, target)))?;
        let info = identify(&set)
            .map_err(|error| anyhow!("{shown}: set {id}: {}", relative(&error, target)))?;
        described.push(CachedSet { id, info, files });
        progress.inc(1);
    }
    progress.finish_and_clear();
    let wheel = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Manifest { format: MANIFEST_FORMAT, version, wheel, sets: described })
}

fn relative(error: &impl std::fmt::Display, target: &Path) -> String {
    error.to_string().replace(&format!("{}/", target.display()), "")
}

/// The version in `ttnn-VERSION.dist-info/`.
fn version(names: &[String]) -> Option<String> {
    names.iter().find_map(|name| {
        let directory = name.split('/').next()?;
        Some(directory.strip_prefix("ttnn-")?.strip_suffix(".dist-info")?.to_owned())
    })
}

/// Id and path prefix of each set with a `drisc/`.
fn set_prefixes(names: &[String]) -> BTreeSet<(String, String)> {
    let find = |name: &String| {
        let (before, after) = name.split_once("pre-compiled/")?;
        let (id, rest) = after.split_once('/')?;
        let plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
        let found = plain && rest.starts_with("drisc/");
        found.then(|| (id.to_owned(), format!("{before}pre-compiled/{id}/")))
    };
    names.iter().filter_map(find).collect()
}

fn read_member<R: std::io::Read + std::io::Seek>(
    archive: &mut ZipArchive<R>,
    name: &str,
) -> Result<Vec<u8>> {
    let member = archive.by_name(name).map_err(|error| anyhow!("{name}: {error}"))?;
    let mut bytes = Vec::new();
    // Reading to the end also checks the stored CRC.
    member
        .take(MAX_ELF_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| anyhow!("{name}: damaged: {error}"))?;
    if bytes.len() as u64 > MAX_ELF_BYTES {
        bail!("{name}: larger than {MAX_ELF_BYTES} bytes");
    }
    Ok(bytes)
}

/// Writes files; equal contents become hard links where the file system has them.
struct Store<'a> {
    target: &'a Path,
    by_hash: BTreeMap<String, PathBuf>,
}

impl Store<'_> {
    fn put(&mut self, path: &str, bytes: &[u8]) -> Result<CachedFile> {
        let full = self.target.join(path);
        let fail = || "cannot write to the cache";
        if let Some(parent) = full.parent() {
            fs::create_dir_all(parent).with_context(fail)?;
        }
        let hash = sha256(bytes);
        let linked = self.by_hash.get(&hash).is_some_and(|same| fs::hard_link(same, &full).is_ok());
        if !linked {
            fs::write(&full, bytes).with_context(fail)?;
            self.by_hash.insert(hash.clone(), full);
        }
        Ok(CachedFile { path: path.to_owned(), sha256: hash, bytes: bytes.len() as u64 })
    }
}
