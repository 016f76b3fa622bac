//! What kernels take from L1 where nobody has ever written.
//!
//! Who fills a page only where it is not filled yet looks at it first, and a loop that reads ahead looks behind the end of
//! its table: neither is a mistake. So it is one where nobody has written to the page of a buffer, or to a line and in
//! front of it, and nobody does until the kernels are done.

use sim_core::Stamp;

use super::circular::Violation;
use super::hazards as h;
use super::pages::Place;
use super::touched::Touched;

/// Bytes of a line of L1 `[isa-bh: TensixTile/L1.md]`.
const LINE_BYTES: u32 = 16;
/// How far behind the end of a table may be read ahead.
const AHEAD_BYTES: u32 = 32;
/// Places in the code that are kept at most.
const KEPT: usize = 64;

/// What was taken by one place of the code.
#[derive(Clone, Debug)]
struct Taken {
    stamp: Stamp,
    /// Where nobody had written: an address and so many bytes.
    blank: (u32, u32),
    text: String,
}

/// What was taken from where nobody had written, in the order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Blank {
    kept: Vec<Taken>,
}

impl Blank {
    /// Takes a word that a core has read, where it lies, and where anybody has written.
    pub(super) fn read(&mut self, stamp: Stamp, word: u32, place: Place, written: &Touched) {
        let (blank, text) = match place {
            Place::Page(buffer, page) => {
                let begin = buffer.address.saturating_add(page.saturating_mul(buffer.page_bytes));
                let index = buffer.index;
                let text = format!(
                    "reads L1 word {word:#x} of page {page} of CB {index}, into which nobody has ever written"
                );
                ((begin, buffer.page_bytes), text)
            }
            Place::Shared => return,
            Place::Elsewhere => {
                let line = word & !(LINE_BYTES - 1);
                if written.any(line.saturating_sub(AHEAD_BYTES), AHEAD_BYTES) {
                    return;
                }
                (
                    (line, LINE_BYTES),
                    format!("reads L1 word {word:#x}, which nobody has ever written"),
                )
            }
        };
        if !written.any(blank.0, blank.1) {
            self.keep(Taken { stamp, blank, text });
        }
    }

    /// Takes so many bytes at an address that a core has sent.
    pub(super) fn sent(&mut self, stamp: Stamp, (addr, bytes): (u32, u32), written: &Touched) {
        if bytes == 0 || written.any(addr, bytes) {
            return;
        }
        let text =
            format!("sends {bytes} bytes from {addr:#x}, into which nobody has ever written");
        self.keep(Taken { stamp, blank: (addr, bytes), text });
    }

    fn keep(&mut self, taken: Taken) {
        let place = |one: &Taken| (one.stamp.agent, one.stamp.pc);
        let is_known = self.kept.iter().any(|old| place(old) == place(&taken));
        if !is_known && self.kept.len() < KEPT {
            self.kept.push(taken);
        }
    }

    /// The kernels are done: gives what nobody has written until now.
    pub(super) fn ended(&mut self, written: &Touched) -> Vec<Violation> {
        let kept = std::mem::take(&mut self.kept).into_iter();
        let missing = kept.filter(|taken| !written.any(taken.blank.0, taken.blank.1));
        missing.map(|Taken { stamp, text, .. }| (stamp, h::C5, text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use sim_core::{AgentId, CoreId, Cycle};

    use super::super::buffer::CircularBuffer;
    use super::*;

    const BASE: u32 = 0x2_0000;
    const CB: CircularBuffer =
        CircularBuffer { index: 3, address: BASE, size: 0x800, pages: 2, page_bytes: 0x400 };

    fn at(pc: u32) -> Stamp {
        Stamp { cycle: Cycle(7), agent: AgentId::Core(CoreId::Brisc), pc }
    }

    /// What is said of a word that is read when the first of these words are written and the others not yet.
    fn said(place: Place, word: u32, before: &[u32], behind: &[u32]) -> Vec<String> {
        let (mut blank, mut written) = (Blank::default(), Touched::new(4));
        before.iter().for_each(|addr| written.set(*addr, 4, true));
        blank.read(at(0x80), word, place, &written);
        blank.read(at(0x80), word, place, &written);
        behind.iter().for_each(|addr| written.set(*addr, 4, true));
        let found = blank.ended(&written);
        assert!(blank.ended(&written).is_empty(), "said once");
        found.into_iter().map(|(_, _, text)| text).collect()
    }

    #[test]
    fn page_is_blank_that_nobody_writes_until_the_end() {
        let (page, word) = (Place::Page(CB, 1), BASE + 0x410);
        let text = "reads L1 word 0x20410 of page 1 of CB 3, into which nobody has ever written";
        assert_eq!(said(page, word, &[BASE + 0x3FC], &[BASE + 0x800]), [text]);
        let none: [&str; 0] = [];
        assert_eq!(
            said(page, word, &[BASE + 0x7FC], &[]),
            none,
            "what is left open may be padding"
        );
        assert_eq!(said(page, word, &[], &[BASE + 0x400]), none, "a look before it is filled");
        assert_eq!(said(Place::Shared, word, &[], &[]), none);
    }

    #[test]
    fn word_outside_of_buffers_may_lie_behind_the_end_of_a_table() {
        let text = "reads L1 word 0x20048, which nobody has ever written";
        let (place, word) = (Place::Elsewhere, BASE + 0x48);
        assert_eq!(said(place, word, &[BASE + 0x1C, BASE + 0x50], &[BASE + 0x3C]), [text]);
        let none: [&str; 0] = [];
        assert_eq!(said(place, word, &[BASE + 0x20], &[]), none, "read ahead");
        assert_eq!(said(place, word, &[], &[BASE + 0x40]), none, "a look before it is filled");
    }

    #[test]
    fn bytes_that_are_sent_are_blank_if_none_of_them_is_written() {
        let mut blank = Blank::default();
        let mut written = Touched::new(4);
        written.set(BASE, 4, true);
        blank.sent(at(0x80), (BASE, 64), &written);
        blank.sent(at(0x84), (BASE + 4, 0), &written);
        blank.sent(at(0x88), (BASE + 4, 60), &written);
        let found = blank.ended(&written);
        let texts: Vec<_> =
            found.iter().map(|(stamp, _, text)| (stamp.pc, text.as_str())).collect();
        let text = "sends 60 bytes from 0x20004, into which nobody has ever written";
        assert_eq!(texts, [(0x88, text)]);
    }
}
