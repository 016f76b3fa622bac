//! Which of many files may be what stands in L1, without a comparison with each.
//!
//! A cache holds the kernels of months, thousands of files, and each core of 140 tiles asks for its firmware and its
//! kernel. So files are kept by their core and by what making code position independent leaves of it: memory is gone
//! through once, and only files of which the same is left are compared.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use sim_core::CoreId;
use sim_core::l1::L1_BYTES;

use super::content::{Candidate, Seen, Wanted, unmoved};

/// Files of a group.
#[derive(Debug, Default)]
pub(super) struct Index {
    candidates: Vec<Arc<Candidate>>,
    /// By where their code begins, behind the first loaded byte
    moved: Shelves,
    /// and where it was linked.
    linked: Shelves,
}

/// By the core that their names say, if they say one, and by where their code begins.
type Shelves = BTreeMap<(Option<CoreId>, u32), Shelf>;

/// Files whose code begins at the same place.
#[derive(Debug, Default)]
struct Shelf {
    /// By how many words the first piece of code has and what it leaves, their numbers.
    files: HashMap<(usize, u64), Vec<usize>>,
    /// All numbers of words.
    lengths: BTreeSet<usize>,
    /// What the first words of each leave, as many as all have.
    beginnings: HashSet<u64>,
}

/// What words leave, one after another.
#[derive(Clone, Copy, Default)]
struct Left(u64);

impl Left {
    fn of(words: impl IntoIterator<Item = u32>) -> Self {
        Self::default().with(words)
    }

    fn with(self, words: impl IntoIterator<Item = u32>) -> Self {
        words.into_iter().fold(self, |Self(left), word| {
            let mixed = (left ^ u64::from(unmoved(word))).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            Self(mixed ^ mixed >> 32)
        })
    }
}

/// The words of a file's first piece of code.
fn words(candidate: &Candidate) -> impl ExactSizeIterator<Item = u32> {
    let code = candidate.code.first().map_or(&[][..], |(_, code)| code);
    code.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word))
}

impl Index {
    pub(super) fn of(candidates: Vec<Arc<Candidate>>) -> Self {
        let mut index = Self::default();
        for (number, candidate) in candidates.iter().enumerate() {
            let Some(&(addr, _)) = candidate.code.first() else { continue };
            let (core, behind) = (candidate.core, addr.wrapping_sub(candidate.linked));
            let (length, left) = (words(candidate).len(), Left::of(words(candidate)));
            for shelf in [
                index.moved.entry((core, behind)).or_default(),
                index.linked.entry((core, addr)).or_default(),
            ] {
                shelf.files.entry((length, left.0)).or_default().push(number);
                shelf.lengths.insert(length);
            }
        }
        for shelf in index.moved.values_mut().chain(index.linked.values_mut()) {
            let least = shelf.lengths.first().copied().unwrap_or(0);
            let files = shelf.files.values().flatten().map(|&number| &candidates[number]);
            shelf.beginnings = files.map(|file| Left::of(words(file).take(least)).0).collect();
        }
        Self { candidates, ..index }
    }

    /// The files that may be what is wanted, in order: all that compare like memory, and hardly another.
    pub(super) fn likely(
        &self,
        wanted: Wanted,
        memory: &Seen<'_>,
    ) -> impl Iterator<Item = &Candidate> {
        let shelves = if wanted.at.is_some() { &self.moved } else { &self.linked };
        let mut numbers = BTreeSet::new();
        let of_core = |own: Option<CoreId>| own.is_none_or(|own| own == wanted.core);
        for (&(_, place), shelf) in shelves.iter().filter(|((core, _), _)| of_core(*core)) {
            shelf.look(place.wrapping_add(wanted.at.unwrap_or(0)), memory, &mut numbers);
        }
        numbers.into_iter().map(|number| &*self.candidates[number])
    }
}

impl Shelf {
    /// Adds the files that leave the same as memory from `addr` on.
    fn look(&self, addr: u32, memory: &Seen<'_>, numbers: &mut BTreeSet<usize>) {
        let room = L1_BYTES.saturating_sub(addr) as usize / 4;
        let (Some(&least), Some(&most)) = (self.lengths.first(), self.lengths.last()) else {
            return;
        };
        if least > room {
            return;
        }
        let (mut left, mut done) = (Left::of(memory.words(addr, 4 * least)), least);
        if !self.beginnings.contains(&left.0) {
            return;
        }
        let there = memory.words(addr, 4 * most.min(room));
        for &length in self.lengths.range(..=there.len()) {
            left = left.with(there[done..length].iter().copied());
            done = length;
            numbers.extend(self.files.get(&(length, left.0)).into_iter().flatten());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sim_core::CoreId;

    use super::*;
    use crate::launch::Memory;

    /// `lui`, `auipc`, `addi`, `lw`, `sw`, `add`, of one register: what position independence changes, and one word
    /// that it does not.
    const WORDS: [u32; 6] =
        [0x0000_75B7, 0x0000_0597, 0x4145_8593, 0x4145_A583, 0x00A5_A023, 0x00B5_85B3];

    fn bytes(words: &[u32]) -> Arc<[u8]> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    proptest! {
        /// Whoever compares like memory is among the likely, in order.
        #[test]
        fn none_that_compares_is_left_out(
            files in prop::collection::vec(
                (prop::collection::vec(0_usize..6, 4..9), 0_u32..3, 0_usize..6, 0_usize..4), 1..12),
            loaded in 0_usize..12,
            changes in prop::collection::vec((0_usize..9, any::<u32>()), 0..3),
            at in prop::option::of((0_u32..4).prop_map(|at| 4 * at)),
        ) {
            let words = |chosen: &[usize]| chosen.iter().map(|&word| WORDS[word]).collect::<Vec<_>>();
            let core = |number: usize| [CoreId::Brisc, CoreId::Trisc2].get(number).copied();
            let candidate = |(chosen, linked, tail, named): &(Vec<usize>, u32, usize, usize)| {
                let mut pieces = vec![(0x100 + 4 * linked, bytes(&words(chosen)))];
                if *tail > 3 {
                    pieces.push((0x200, bytes(&words(&chosen[..4]))));
                }
                Arc::new(Candidate { core: core(*named), ..Candidate::of(0x100, pieces) })
            };
            let candidates: Vec<_> = files.iter().map(candidate).collect();
            // Memory holds one of them, with some words changed as a loader would, or otherwise.
            let mut memory = vec![0_u8; 0x400];
            let bias = at.map_or(0, |at| at.wrapping_sub(0x100));
            for (addr, code) in &candidates[loaded % candidates.len()].code {
                let from = addr.wrapping_add(bias) as usize;
                if let Some(there) = memory.get_mut(from..from + code.len()) {
                    there.copy_from_slice(code);
                }
            }
            for (place, bits) in changes {
                let from = (0x100_u32.wrapping_add(bias) as usize) + 4 * place;
                if let Some(there) = memory.get_mut(from..from + 4) {
                    let old = u32::from_le_bytes(there.try_into().expect("four bytes"));
                    let turned = old ^ if bits & 1 == 0 { bits & 0xFFF0_0000 } else { 0x20 };
                    there.copy_from_slice(&turned.to_le_bytes());
                }
            }
            let read = |addr, bytes: &mut [u8]| memory[..].l1(addr, bytes);
            let (seen, wanted) = (Seen(&read), Wanted { core: CoreId::Brisc, at });
            let index = Index::of(candidates.clone());
            let likely: Vec<_> =
                index.likely(wanted, &seen).filter(|one| one.compare(wanted, &seen).is_some()).collect();
            let all: Vec<_> = candidates
                .iter()
                .map(|one| &**one)
                .filter(|one| one.compare(wanted, &seen).is_some())
                .collect();
            prop_assert_eq!(all.len(), likely.len());
            prop_assert!(all.iter().zip(&likely).all(|(one, other)| std::ptr::eq(*one, *other)));
        }
    }

    #[test]
    fn files_of_other_code_are_not_asked() {
        let code = |last: u32| vec![(0x100, bytes(&[0x0000_75B7, 0x0585_8713, 0x0007_2023, last]))];
        let index = Index::of(
            (0..200)
                .map(|last| Arc::new(Candidate::of(0x100, code(0xFF01_0033 | last << 7 & 0xF80))))
                .collect(),
        );
        let mut memory = vec![0_u8; 0x400];
        memory[0x180..0x190].copy_from_slice(&code(0xFF01_0033)[0].1);
        let read = |addr, bytes: &mut [u8]| memory[..].l1(addr, bytes);
        let wanted = Wanted { core: CoreId::Brisc, at: Some(0x180) };
        // Thirty-two registers, two hundred files.
        assert_eq!(index.likely(wanted, &Seen(&read)).count(), 7);
        let wanted = Wanted { at: None, ..wanted };
        assert_eq!(index.likely(wanted, &Seen(&read)).count(), 0);
    }
}
