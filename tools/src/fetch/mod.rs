//! The firmware cache: vendor firmware sets taken out of a `ttnn` wheel that the user's own `pip`
//! downloads, or that the user already has. The wheel is the vendor's; nothing of it is part of
//! this program.
//!
//! Layout: `CACHE/firmware/ttnn-VERSION/manifest.json` and `.../ID/CORE/CORE.elf` (the vendor's
//! own layout, one directory per set). A version appears in one rename when it is complete, so an
//! interrupted fetch leaves nothing that could be taken for a cache.

mod pip;
mod wheel;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use loader::firmware::FirmwareInfo;

/// The version that the documentation and the tests refer to.
pub const DEFAULT_VERSION: &str = "0.81.1";
/// Environment variable that names the cache directory.
pub const CACHE_ENV: &str = "TILESCOPE_CACHE";
/// Format number of the manifest.
const MANIFEST_FORMAT: u32 = 1;
const MANIFEST: &str = "manifest.json";
const PARTIAL: &str = ".partial-";

/// One file of a set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CachedFile {
    /// Path relative to the version's directory, with `/`.
    pub path: String,
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
}

/// One firmware set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CachedSet {
    /// The vendor's directory name, a build hash.
    pub id: String,
    /// What it was built for.
    #[serde(flatten)]
    pub info: FirmwareInfo,
    /// Its five files.
    pub files: Vec<CachedFile>,
}

/// What a version's directory holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Format number.
    pub format: u32,
    /// Version of the package.
    pub version: String,
    /// File name of the wheel.
    pub wheel: String,
    /// Sets by id.
    pub sets: Vec<CachedSet>,
}

impl Manifest {
    fn files(&self) -> impl Iterator<Item = &CachedFile> {
        self.sets.iter().flat_map(|set| &set.files)
    }
}

/// A version in the cache and the result of checking it.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// Directory of the version.
    pub dir: PathBuf,
    /// What it says it holds; `None` when the manifest is unusable.
    pub manifest: Option<Manifest>,
    /// Files that do not match the manifest, one line each; empty when all is well.
    pub problems: Vec<String>,
}

/// Set by Ctrl-C; long steps look at it and give up cleanly.
#[derive(Debug, Default)]
pub struct Interrupt(AtomicBool);

impl Interrupt {
    /// Not interrupted.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Asks everything that looks at it to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn check(&self) -> Result<()> {
        if self.0.load(Ordering::SeqCst) {
            bail!("interrupted; the cache is unchanged");
        }
        Ok(())
    }
}

/// What to fetch.
#[derive(Debug)]
pub struct FetchOptions<'a> {
    /// Package version for `pip`; ignored with `wheel`.
    pub version: &'a str,
    /// A wheel that is already here.
    pub wheel: Option<&'a Path>,
    /// Replace what the cache holds.
    pub force: bool,
    /// Looked at during long steps.
    pub interrupt: &'a Interrupt,
}

/// The cache directory.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache named by `TILESCOPE_CACHE`, or the user's cache directory.
    ///
    /// # Errors
    /// When neither is known.
    pub fn open() -> Result<Self> {
        Ok(Self::at(&Self::directory()?))
    }

    /// The directory for all that can be made again.
    ///
    /// # Errors
    /// As [`Cache::open`].
    pub fn directory() -> Result<PathBuf> {
        if let Some(dir) = std::env::var_os(CACHE_ENV).filter(|dir| !dir.is_empty()) {
            return Ok(PathBuf::from(dir));
        }
        let dirs = directories::ProjectDirs::from("", "", "tilescope");
        let dirs = dirs.with_context(|| format!("no home directory; set {CACHE_ENV}"))?;
        Ok(dirs.cache_dir().to_owned())
    }

    /// A cache in a directory of the caller's choice.
    #[must_use]
    pub fn at(dir: &Path) -> Self {
        Self { root: dir.join("firmware") }
    }

    /// Directory of one version.
    fn version_dir(&self, version: &str) -> PathBuf {
        self.root.join(format!("ttnn-{version}"))
    }

    /// Puts a version into the cache and returns its directory and manifest; does nothing when it
    /// is there and intact.
    ///
    /// # Errors
    /// One line: no pip, no such version, no usable wheel, no space, interrupted.
    pub fn fetch(&self, options: &FetchOptions<'_>) -> Result<(PathBuf, Manifest)> {
        if options.wheel.is_none() {
            check_version(options.version)?;
            let dir = self.version_dir(options.version);
            if let (false, Some(manifest)) = (options.force, intact(&dir)) {
                return Ok((dir, manifest));
            }
        }
        fs::create_dir_all(&self.root)
            .with_context(|| format!("cannot create {}", self.root.display()))?;
        self.remove_stale();
        // In the cache itself, so that the final rename stays on one file system.
        let temporary = tempfile::Builder::new().prefix(PARTIAL).tempdir_in(&self.root);
        let temporary =
            temporary.with_context(|| format!("cannot write to {}", self.root.display()))?;
        let wheel = match options.wheel {
            Some(wheel) => wheel.to_owned(),
            None => pip::download(options.version, temporary.path(), options.interrupt)?,
        };
        let staging = temporary.path().join("sets");
        let manifest = wheel::extract(&wheel, &staging, options.interrupt)?;
        check_version(&manifest.version)?;
        let text = serde_json::to_string_pretty(&manifest)?;
        fs::write(staging.join(MANIFEST), text + "\n").context("cannot write the manifest")?;
        options.interrupt.check()?;
        let dir = self.version_dir(&manifest.version);
        if let (false, Some(manifest)) = (options.force, intact(&dir)) {
            return Ok((dir, manifest));
        }
        if dir.exists() {
            fs::rename(&dir, temporary.path().join("replaced"))
                .with_context(|| format!("cannot replace {}", dir.display()))?;
        }
        fs::rename(&staging, &dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok((dir, manifest))
    }

    /// Every version in the cache, checked against its manifest, by name.
    ///
    /// # Errors
    /// When the cache directory exists but cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>> {
        let mut found = Vec::new();
        for dir in self.versions()? {
            let manifest = read_manifest(&dir);
            let (manifest, problems) = match manifest {
                Ok(manifest) => {
                    let problems = check_files(&dir, manifest.files());
                    (Some(manifest), problems)
                }
                Err(error) => (None, vec![format!("{error:#}")]),
            };
            found.push(Listed { dir, manifest, problems });
        }
        Ok(found)
    }

    /// The directory of the set that a user means: a directory with a set; `8/140` (DRAM and L1
    /// banks); a set's id or the start of one; or, without a selector, the set with most banks.
    ///
    /// # Errors
    /// One line that says what to do when there is no such set, or more than one.
    pub fn resolve(&self, selector: Option<&str>) -> Result<PathBuf> {
        if let Some(dir) = selector.map(Path::new).filter(|dir| dir.is_dir()) {
            return Ok(dir.to_owned());
        }
        let mut sets = Vec::new();
        for dir in self.versions()? {
            for set in read_manifest(&dir)?.sets {
                sets.push((dir.join(&set.id), set));
            }
        }
        if sets.is_empty() {
            bail!(
                "{}no firmware in the cache; run `tilescope firmware fetch` or name a directory",
                selector.map(|text| format!("{text}: no such directory and ")).unwrap_or_default()
            );
        }
        let banks = selector.and_then(parse_banks);
        let wanted = |set: &CachedSet| match (selector, banks) {
            (None, _) => true,
            (_, Some(banks)) => (set.info.dram_banks, set.info.l1_banks) == banks,
            (Some(id), None) => set.id.starts_with(id),
        };
        sets.retain(|(_, set)| wanted(set));
        // Most banks first, then the latest version, then the first id.
        sets.sort_by(|(dir, set), (other_dir, other)| {
            let key = |set: &CachedSet| (set.info.dram_banks, set.info.l1_banks);
            let version = |dir: &PathBuf| dir.parent().map(version_key);
            let banks = key(other).cmp(&key(set));
            banks.then(version(other_dir).cmp(&version(dir))).then(set.id.cmp(&other.id))
        });
        let by_id = selector.is_some() && banks.is_none();
        let ids: std::collections::BTreeSet<_> = sets.iter().map(|(_, set)| &set.id).collect();
        match sets.first() {
            Some(_) if by_id && ids.len() > 1 => {
                let some: Vec<_> = ids.iter().take(3).map(|id| id.as_str()).collect();
                bail!(
                    "{:?} matches {} firmware sets: {}{}",
                    selector.unwrap_or_default(),
                    ids.len(),
                    some.join(", "),
                    if ids.len() > some.len() { ", ..." } else { "" }
                )
            }
            Some((dir, set)) => {
                match check_files(dir.parent().unwrap_or(dir), &set.files).first() {
                    None => Ok(dir.clone()),
                    Some(problem) => {
                        bail!("{problem}; `tilescope firmware fetch --force` repairs it")
                    }
                }
            }
            None => bail!(
                "{}: no such firmware set; `tilescope firmware list` shows what there is",
                selector.unwrap_or_default()
            ),
        }
    }

    /// Directories of versions, oldest first.
    fn versions(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", self.root.display()));
            }
        };
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {}", self.root.display()))?;
            if entry.file_name().to_string_lossy().starts_with("ttnn-") {
                found.push(entry.path());
            }
        }
        found.sort_by_key(|dir| version_key(dir));
        Ok(found)
    }

    /// Removes what a killed fetch left behind, if it is a day old: nobody works on it any more.
    fn remove_stale(&self) {
        let Ok(entries) = fs::read_dir(&self.root) else { return };
        for entry in entries.flatten() {
            let age = entry.metadata().and_then(|meta| meta.modified()).ok();
            let age = age.and_then(|time| time.elapsed().ok());
            let old = age.is_some_and(|age| age.as_secs() > 24 * 3600);
            if old && entry.file_name().to_string_lossy().starts_with(PARTIAL) {
                // Failure is harmless: the directory is never taken for a cache.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Versions become directory names and pip arguments.
fn check_version(version: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".+!_-".contains(c);
    if version.is_empty() || version.starts_with(['-', '.']) || !version.chars().all(plain) {
        bail!("{version:?} is not a package version");
    }
    Ok(())
}

/// Numbers of a version directory's name, for sorting.
fn version_key(dir: &Path) -> Vec<u64> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let digits = name.split(|c: char| !c.is_ascii_digit());
    digits.filter_map(|part| part.parse().ok()).collect()
}

/// `8/140` or `8x140`.
fn parse_banks(text: &str) -> Option<(Option<u32>, Option<u32>)> {
    let (dram, l1) = text.split_once(['/', 'x'])?;
    Some((Some(dram.parse().ok()?), Some(l1.parse().ok()?)))
}

fn intact(dir: &Path) -> Option<Manifest> {
    let manifest = read_manifest(dir).ok()?;
    check_files(dir, manifest.files()).is_empty().then_some(manifest)
}

fn read_manifest(dir: &Path) -> Result<Manifest> {
    let path = dir.join(MANIFEST);
    let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let manifest: Manifest =
        serde_json::from_str(&text).with_context(|| format!("{}: damaged", path.display()))?;
    if manifest.format != MANIFEST_FORMAT {
        bail!("{}: format {} is not {MANIFEST_FORMAT}", path.display(), manifest.format);
    }
    Ok(manifest)
}

/// What is wrong with files below the directory of a version, one line each.
fn check_files<'a>(dir: &Path, files: impl IntoIterator<Item = &'a CachedFile>) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        match hash_file(&dir.join(&file.path)) {
            Ok(hash) if hash == file.sha256 => {}
            Ok(_) => problems.push(format!("{}: changed since it was fetched", file.path)),
            Err(error) => problems.push(format!("{}: {error}", file.path)),
        }
    }
    problems
}

fn hash_file(path: &Path) -> std::io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(sha256(&bytes))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
