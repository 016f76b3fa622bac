//! Which of the files that a host has lying about it has loaded: those whose code it has sent to the chip.
//!
//! A cache holds the kernels of months, and nothing in it says which of them ran. What a host has sent
//! does, by whatever way the code went to the tiles: straight to L1, or through the chip's DRAM in pages.
//! So each file is looked for by some words of its code, and what lies before and behind them must be its code too.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content::{Candidate, elsewhere};
use super::places::Group;
use super::{Catalog, places, records};
use crate::files::normal;
use crate::image::code_at;
use crate::module::Module;

/// So much of a file is read to get at its code.
const FIRST_BYTES: usize = 16 << 10;
/// Bytes by which code is looked for.
const KEY_BYTES: usize = 16;
/// Where in the code they are taken: code that is sent in pages begins anywhere in one.
const KEYS_AT: [usize; 4] = [0, 256, 1024, 2048];
/// Code of fewer bytes may stand anywhere.
const LEAST_BYTES: usize = 64;
/// Of longer code so much at least must be there, if not all of it: all kernels begin alike, and many have functions in
/// common.
const SAME_BYTES: usize = 256;
/// Code lies at addresses that are multiples of this, in L1 and in what is sent there.
const STEP: usize = 4;

type Key = [u8; KEY_BYTES];

/// A file that may have been loaded.
struct Suspect {
    path: PathBuf,
    /// The first bytes of its code.
    code: Vec<u8>,
    is_found: bool,
}

/// Looks for the code of many files at once.
struct Sieve {
    suspects: Vec<Suspect>,
    /// Whose code has these bytes, and where.
    keys: HashMap<Key, Vec<(usize, usize)>>,
    /// Whether a key begins with a word of this hash: most words are of none.
    first: Vec<bool>,
}

/// A number below 2^16 for a word.
fn hash(word: &[u8]) -> usize {
    let word = word.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
    (word.wrapping_mul(0x9E37_79B1) >> 16) as usize
}

/// Whether code, of which the byte `from` is the byte `at` of what was sent, stands there as far as both go.
fn stands(code: &[u8], from: usize, sent: &[u8], at: usize) -> bool {
    let before = from.min(at);
    let (code, sent) = (&code[from - before..], &sent[at - before..]);
    let both = code.len().min(sent.len());
    let is_all = before == from && both == code.len();
    (is_all || both >= SAME_BYTES) && code[..both] == sent[..both]
}

/// Code of a file: where each piece of it lies, and its bytes.
type Pieces = Vec<(u32, Arc<[u8]>)>;

impl Sieve {
    fn new(suspects: Vec<Suspect>) -> Self {
        let mut keys: HashMap<Key, Vec<(usize, usize)>> = HashMap::new();
        let mut first = vec![false; 1 << 16];
        for (index, suspect) in suspects.iter().enumerate() {
            for at in KEYS_AT {
                let code = suspect.code.get(at..).filter(|code| code.len() >= LEAST_BYTES);
                let Some(key) = code.and_then(<[u8]>::first_chunk::<KEY_BYTES>) else {
                    continue;
                };
                // Padding stands everywhere.
                if key.iter().any(|byte| byte != &key[0]) {
                    first[hash(&key[..STEP])] = true;
                    keys.entry(*key).or_default().push((index, at));
                }
            }
        }
        Self { suspects, keys, first }
    }

    /// Takes something that was sent.
    fn look(&mut self, sent: &[u8]) {
        for at in (0..sent.len().saturating_sub(KEY_BYTES - 1)).step_by(STEP) {
            let here = &sent[at..];
            if !self.first[hash(&here[..STEP])] {
                continue;
            }
            let key = here.first_chunk::<KEY_BYTES>().and_then(|key| self.keys.get(key));
            for &(index, from) in key.into_iter().flatten() {
                let suspect = &mut self.suspects[index];
                suspect.is_found |= stands(&suspect.code, from, sent, at);
            }
        }
    }
}

impl Catalog {
    /// The files whose code was sent to the chip, in order of their paths; of several with the same
    /// code those that the host's records name, or the first. `send` shows all that was sent.
    ///
    /// # Errors
    /// What `send` fails with.
    pub fn loaded<E>(
        &self,
        send: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), E>,
    ) -> Result<Vec<Arc<Module>>, E> {
        let mut sieve = Sieve::new(self.suspects());
        send(&mut |sent| sieve.look(sent))?;
        let found = sieve.suspects.into_iter().filter(|suspect| suspect.is_found);
        let recorded = self.recorded();
        let is_recorded = |path: &Path| recorded.contains(&normal(&path.to_string_lossy()));
        let mut by_code: BTreeMap<Pieces, Vec<PathBuf>> = BTreeMap::new();
        for suspect in found {
            if let Some(file) = Candidate::read(&self.store, &suspect.path) {
                by_code.entry(file.code).or_default().push(suspect.path);
            }
        }
        let mut paths = BTreeSet::new();
        for same in by_code.into_values() {
            let named: Vec<_> = same.iter().filter(|path| is_recorded(path)).cloned().collect();
            let first = same.into_iter().next().filter(|_| named.is_empty());
            paths.extend(named.into_iter().chain(first));
        }
        let module = |path: &PathBuf| self.module(path, |image| self.described(path, image));
        Ok(paths.iter().filter_map(module).collect())
    }

    /// Every file that a host may have loaded.
    fn suspects(&self) -> Vec<Suspect> {
        let mut paths: BTreeSet<PathBuf> = self.recorded().into_iter().map(PathBuf::from).collect();
        for group in [Group::Extra, Group::Firmware, Group::Llk, Group::Kernels] {
            paths.extend(self.files(group));
        }
        let suspect = |path: &PathBuf| {
            let (first, _) = self.store.first(path, FIRST_BYTES)?;
            let code = code_at(&first)?;
            let code = first.get(code.start..code.end.min(first.len()))?.to_vec();
            (code.len() >= LEAST_BYTES).then(|| Suspect {
                path: path.clone(),
                code,
                is_found: false,
            })
        };
        let paths = places::loadable(&paths).filter(|path| !elsewhere(path));
        paths.filter_map(suspect).collect()
    }

    /// The files that the host's records name, as they were linked and as they were loaded.
    fn recorded(&self) -> BTreeSet<String> {
        self.read_records_once();
        let state = self.state.lock();
        let kernels = state.records.values().flat_map(records::Record::files);
        let both = kernels.flat_map(|path| [records::loaded(&path), path]);
        both.map(|path| normal(&path.to_string_lossy())).collect()
    }
}
