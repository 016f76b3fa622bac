//! ELF files told by what stands in L1.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sim_core::CoreId;

use super::store::Store;
use crate::image::{CodeRange, Image, code_ranges};
use crate::launch::{Memory, fill};

/// Code shorter than this may stand anywhere by chance.
const LEAST_BYTES: usize = 16;
/// The code of most files lies in so many of their first bytes; the names in them take ten times as many.
const FIRST_BYTES: usize = 64 << 10;

/// How an ELF file's code compares with memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Likeness {
    /// The same but for what making it position independent changes.
    Moved,
    /// The same bytes.
    Same,
}

/// What a search for code in L1 asks.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) core: CoreId,
    /// Where the first loaded byte lies; `None`: where it was linked.
    pub(super) at: Option<u32>,
}

/// The code of an ELF file that may be what stands in L1.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// The core its name says, if it says one.
    pub(super) core: Option<CoreId>,
    /// Lowest address of a segment with bytes.
    pub(super) linked: u32,
    /// Code by linked address.
    pub(super) code: Vec<(u32, Arc<[u8]>)>,
}

/// The core that a file's name means: `brisc.elf`, `trisc1.elf.xip.elf`, or as the LLK tests call
/// them.
pub(super) fn core_of(path: &Path) -> Option<CoreId> {
    let name = path.file_name()?.to_str()?;
    match name.split('.').next()? {
        "brisc" => Some(CoreId::Brisc),
        "ncrisc" => Some(CoreId::Ncrisc),
        "trisc0" | "unpack" => Some(CoreId::Trisc0),
        "trisc1" | "math" => Some(CoreId::Trisc1),
        "trisc2" | "pack" => Some(CoreId::Trisc2),
        _ => None,
    }
}

/// Whether a file's name is of a core that no Tensix tile has, or of a twin that is never loaded.
pub(super) fn elsewhere(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.contains("erisc") || name.starts_with("drisc") || name.contains("_weakened")
}

impl Candidate {
    /// Code that was not read from a file.
    #[cfg(test)]
    pub(super) fn of(linked: u32, code: Vec<(u32, Arc<[u8]>)>) -> Self {
        Self { path: PathBuf::from("mine.elf"), core: None, linked, code }
    }

    pub(super) fn read(store: &Store, path: &Path) -> Option<Self> {
        if elsewhere(path) {
            return None;
        }
        let (mut bytes, length) = store.first(path, FIRST_BYTES)?;
        let mut found = code_ranges(&bytes, length)?;
        let beyond = |range: &CodeRange| range.1.end > bytes.len();
        if found.1.iter().any(beyond) {
            (bytes, _) = store.first(path, usize::MAX)?;
            found = code_ranges(&bytes, bytes.len())?;
        }
        let (linked, ranges) = found;
        let code: Vec<_> = ranges
            .into_iter()
            .map(|(addr, range)| (addr, Arc::from(&bytes[range])))
            .filter(|(_, code): &(u32, Arc<[u8]>)| code.len() >= LEAST_BYTES)
            .collect();
        (!code.is_empty()).then(|| Self {
            core: core_of(path),
            path: path.to_owned(),
            linked,
            code,
        })
    }

    /// How memory compares.
    pub(super) fn compare(&self, wanted: Wanted, memory: &Seen<'_>) -> Option<Likeness> {
        if self.core.is_some_and(|own| own != wanted.core) {
            return None;
        }
        let bias = wanted.at.map_or(0, |at| at.wrapping_sub(self.linked));
        let each =
            self.code.iter().map(|(addr, code)| memory.likeness(addr.wrapping_add(bias), code));
        accepted(each, wanted.at)
    }

    /// What decides between files that compare alike: one whose name is the core's, the file that
    /// was loaded, more code.
    pub(super) fn rank(&self) -> (bool, bool, usize) {
        let loaded = self.path.to_string_lossy().ends_with(".xip.elf");
        (self.core.is_some(), loaded, self.code.iter().map(|(_, code)| code.len()).sum())
    }
}

/// Whether an image's code stands in memory, with its first loaded byte at `at`.
pub(super) fn compare(image: &Image, memory: &Seen<'_>, at: Option<u32>) -> Option<Likeness> {
    let linked = image.loadable().map(|segment| segment.addr).min()?;
    let bias = at.map_or(0, |at| at.wrapping_sub(linked));
    let code = image.loadable().filter(|segment| segment.executable);
    let each = code.map(|code| memory.likeness(code.addr.wrapping_add(bias), &code.bytes));
    accepted(each, at)
}

/// The least likeness of all pieces. What runs where it was linked was not changed.
fn accepted(each: impl Iterator<Item = Option<Likeness>>, at: Option<u32>) -> Option<Likeness> {
    let least = each.min().flatten();
    least.filter(|found| at.is_some() || *found == Likeness::Same)
}

/// Memory as it is compared.
pub(super) struct Seen<'a>(pub(super) &'a dyn Memory);

impl Seen<'_> {
    fn likeness(&self, addr: u32, code: &[u8]) -> Option<Likeness> {
        /// Most of what is compared differs at its beginning.
        const FIRST: usize = 256;
        let first = &code[..code.len().min(FIRST)];
        let there = self.words(addr, first.len());
        let alike = words(first).zip(&there).filter(|(old, new)| old == *new).count();
        // What is rewritten is a small part of any program.
        if 4 * alike < 3 * there.len() {
            return None;
        }
        let there = self.words(addr, code.len());
        if words(code).eq(there.iter().copied()) {
            return Some(Likeness::Same);
        }
        moved(code, &there).then_some(Likeness::Moved)
    }

    /// The words in so many bytes; zeros if not all of those lie in L1.
    pub(super) fn words(&self, addr: u32, length: usize) -> Vec<u32> {
        let mut there = vec![0; length];
        fill(self.0, addr, &mut there);
        words(&there).collect()
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word))
}

// [riscv-unprivileged: RV32I base instruction set]
const LUI: u32 = 0x37;
const AUIPC: u32 = 0x17;

const fn opcode(word: u32) -> u32 {
    word & 0x7F
}

/// The bits of a word that stay when what is added to a register changes, if that can change.
const fn beside_low_part(word: u32) -> Option<u32> {
    // Loads, addi and jalr have the immediate in bits 31 to 20, stores in 31 to 25 and 11 to 7.
    match opcode(word) {
        0x03 | 0x13 | 0x67 => Some(0x000F_FFFF),
        0x23 => Some(0x01FF_F07F),
        _ => None,
    }
}

/// What is left of a word if all is left out that making code position independent may change.
pub(super) const fn unmoved(word: u32) -> u32 {
    match (opcode(word), beside_low_part(word)) {
        (LUI | AUIPC, _) => word & 0xF80 | LUI,
        (_, Some(bits)) => word & bits,
        _ => word,
    }
}

/// Whether code became what is there by being made position independent: the host turns `lui` of
/// an address into `auipc`, or the reverse, and changes the low parts that are added to the same
/// register `[spec: live-sessions]`, seen in every pair of `.elf` and `.elf.xip.elf` of ttnn 0.81.1.
fn moved(code: &[u8], there: &[u32]) -> bool {
    let (rd, rs1) = (|word: u32| word >> 7 & 31, |word: u32| word >> 15 & 31);
    let changed = || words(code).zip(there.iter().copied()).filter(|(old, new)| old != new);
    let upper = |old, new| {
        let turned = matches!((opcode(old), opcode(new)), (LUI, AUIPC) | (AUIPC, LUI));
        turned && rd(old) == rd(new)
    };
    let registers = changed()
        .filter(|&(old, new)| upper(old, new))
        .fold(0_u32, |set, (old, _)| set | 1 << rd(old));
    changed().all(|(old, new)| {
        let lower = beside_low_part(old).is_some_and(|bits| (old ^ new) & bits == 0);
        upper(old, new) || lower && registers >> rs1(old) & 1 == 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From listings of GNU objdump: a linked kernel's words, and what is loaded of them.
    /// `lui a1,0x7; add a4,a1,88; sw zero,0(a4); addi sp,sp,-16` and
    /// `auipc a1,0x0; add a4,a1,1044; ...`.
    const LINKED: [u32; 4] = [0x0000_75B7, 0x0585_8713, 0x0007_2023, 0xFF01_0113];
    const LOADED: [u32; 4] = [0x0000_0597, 0x4145_8713, 0x0007_2023, 0xFF01_0113];

    fn code(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn code_made_position_independent_is_known_again() {
        assert!(moved(&code(&LINKED), &LOADED));
        assert!(moved(&code(&LOADED), &LINKED));
    }

    #[test]
    fn other_constant_that_is_no_address_makes_other_code() {
        let mut other = LOADED;
        other[3] = 0xFE01_0113; // addi sp,sp,-32
        assert!(!moved(&code(&LINKED), &other));
        let mut other = LINKED;
        other[1] = 0x4145_8713; // the low part alone
        assert!(!moved(&code(&LINKED), &other));
    }

    #[test]
    fn core_is_told_by_the_file_name() {
        let core = |name| core_of(Path::new(name));
        assert_eq!(core("k/trisc1/trisc1.elf.xip.elf"), Some(CoreId::Trisc1));
        assert_eq!(core("elf/pack.elf"), Some(CoreId::Trisc2));
        assert_eq!(core("ncrisc.elf"), Some(CoreId::Ncrisc));
        assert_eq!(core("mine.elf"), None);
    }
}
