//! Formats of data in circular buffers, beside those that unpackers and packer are set to.
//!
//! The host compiles the format of each buffer into a compute kernel, which sets its units by them: for other buffers
//! than those it was begun with, it has to set them anew `[hdr: hw/inc/api/compute/reconfig_data_format.h]`.

use isa::config::field;
use isa::op::Opcode;
use isa::operands::Unpacr;
use sim_core::{Event, ThreadId};

use super::buffer::CircularBuffer;

/// The bits of a format that the hardware knows; the others tell signed from unsigned `[hdr: tensix_types.h]`.
const CODE: u8 = 0xF;
/// A buffer that the kernel does not have.
const NONE: u8 = 255;
/// Banks of configuration in events, and the first thread's own words.
const BANKS: usize = 2;
const THREADS: usize = 2;
const UNPACK: usize = 0;
const PACK: usize = 1;

/// Formats of the launch's circular buffers, by index.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Formats {
    /// As unpackers take them.
    pub unpack: Vec<u8>,
    /// As the packer makes them.
    pub pack: Vec<u8>,
}

/// What the units are set to, of each bank of configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    unpackers: [[u8; 2]; BANKS],
    packer: [u8; BANKS],
    /// The bank of each thread.
    bank: [u8; ThreadId::COUNT],
    /// The unpacker that was given an instruction last.
    unpacker: usize,
    /// The first bytes of that instruction, and of the packer's last one, were looked at.
    is_seen: [bool; 2],
}

impl Units {
    pub(super) fn event(&mut self, event: &Event) {
        match *event {
            Event::Issue { thread: ThreadId::T0, word, .. }
                if Opcode::from_word(word) == Some(Opcode::Unpacr) =>
            {
                self.unpacker = usize::from(Unpacr::of(word).unpack_block_selection);
                self.is_seen[UNPACK] = false;
            }
            Event::Issue { thread: ThreadId::T2, word, .. }
                if Opcode::from_word(word) == Some(Opcode::Pacr) =>
            {
                self.is_seen[PACK] = false;
            }
            Event::Config { state, index, after, .. } => {
                self.set(usize::from(state), u32::from(index), after);
            }
            _ => {}
        }
    }

    fn set(&mut self, state: usize, index: u32, word: u32) {
        const DESCRIPTORS: [u32; 2] = [
            field::THCON_SEC0_REG0_TileDescriptor.addr32,
            field::THCON_SEC1_REG0_TileDescriptor.addr32,
        ];
        if let Some(thread) = state.checked_sub(THREADS) {
            let own = &field::CFG_STATE_ID_StateID;
            if let (Some(bank), true) = (self.bank.get_mut(thread), index == own.addr32) {
                *bank = own.of_word(word) as u8;
            }
            return;
        }
        // The descriptor's lowest bits are the format of what is unpacked [isa-wh: TensixCoprocessor/UNPACR_Regular.md].
        if let Some(unit) = DESCRIPTORS.iter().position(|first| *first == index) {
            self.unpackers[state][unit] = word as u8 & CODE;
        }
        let packed = &field::THCON_SEC0_REG1_Out_data_format;
        if index == packed.addr32 {
            self.packer[state] = packed.of_word(word) as u8;
        }
    }

    fn bank_of(&self, thread: ThreadId) -> usize {
        usize::from(self.bank[thread.index()]) % BANKS
    }

    /// Says that data of these buffers are unpacked in a format that none of them has.
    pub(super) fn unpacked(&mut self, formats: &[u8], buffers: At<'_>) -> Option<String> {
        if std::mem::replace(&mut self.is_seen[UNPACK], true) {
            return None;
        }
        let set = self.unpackers[self.bank_of(ThreadId::T0)][self.unpacker];
        let (buffer, own) = differing(set, formats, buffers)?;
        let operand = ["SrcA", "SrcB"][self.unpacker];
        let (set, own) = (name(set), name(own));
        Some(format!("unpacks {set} for {operand} from CB {buffer}, which holds {own}"))
    }

    /// Says that data are packed into these buffers in a format that none of them has.
    pub(super) fn packed(&mut self, formats: &[u8], buffers: At<'_>) -> Option<String> {
        if std::mem::replace(&mut self.is_seen[PACK], true) {
            return None;
        }
        let set = self.packer[self.bank_of(ThreadId::T2)];
        let (buffer, own) = differing(set, formats, buffers)?;
        let (set, own) = (name(set), name(own));
        Some(format!("packs {set} into CB {buffer}, which holds {own}"))
    }
}

/// The first of the buffers and its format, if the formats of all are known and none is that which is set.
fn differing(set: u8, formats: &[u8], buffers: At<'_>) -> Option<(u8, u8)> {
    let mut first = None;
    for buffer in buffers.all() {
        let format = formats.get(usize::from(buffer.index)).copied().filter(|own| *own != NONE)?;
        if format & CODE == set {
            return None;
        }
        first.get_or_insert((buffer.index, format & CODE));
    }
    first
}

/// The buffers in which a byte lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    pub(super) of: &'a [CircularBuffer],
    pub(super) addr: u32,
}

impl<'a> At<'a> {
    pub(super) fn all(self) -> impl Iterator<Item = &'a CircularBuffer> {
        let is_within =
            move |buffer: &&CircularBuffer| (buffer.address..buffer.end()).contains(&self.addr);
        self.of.iter().filter(is_within)
    }
}

fn name(format: u8) -> String {
    let known = isa::names::format(u32::from(format));
    known.map_or_else(|| format!("format {format}"), |row| row.name.to_owned())
}

#[cfg(test)]
mod tests {
    use sim_core::observer::Slot;

    use super::*;

    const FLOAT32: u8 = 0;
    const BFLOAT16: u8 = 5;

    const ADDR: u32 = 0x2_0000;

    const fn buffer(index: u8) -> CircularBuffer {
        CircularBuffer { index, address: ADDR, size: 0x1000, pages: 1, page_bytes: 0x1000 }
    }

    fn at(of: &[CircularBuffer]) -> At<'_> {
        At { of, addr: ADDR + 4 }
    }

    fn set(units: &mut Units, state: u8, word: u32, after: u32) {
        let index = u16::try_from(word).expect("a word of configuration");
        units.event(&Event::Config { state, index, before: 0, after });
    }

    #[test]
    fn unpacker_that_is_set_to_another_format_is_named_with_both() {
        let mut units = Units::default();
        let second = field::THCON_SEC1_REG0_TileDescriptor.addr32;
        set(&mut units, 0, second, 0x100 | u32::from(BFLOAT16));
        let formats = [BFLOAT16, FLOAT32];
        let unpack = |units: &mut Units, unpacker: u32| {
            let word = u32::from(Opcode::Unpacr as u8) << 24 | unpacker << 23;
            let (thread, slot) = (ThreadId::T0, Slot::default());
            units.event(&Event::Issue { thread, word, slot });
        };
        // Unpacker 0 is set to Float32 as after reset.
        unpack(&mut units, 0);
        assert_eq!(units.unpacked(&formats, at(&[buffer(1)])), None);
        unpack(&mut units, 1);
        assert_eq!(units.unpacked(&formats, at(&[buffer(0)])), None);
        unpack(&mut units, 1);
        let said = units.unpacked(&formats, at(&[buffer(1)]));
        let text = "unpacks Float16_b for SrcB from CB 1, which holds Float32";
        assert_eq!(said.as_deref(), Some(text));
        assert_eq!(units.unpacked(&formats, at(&[buffer(1)])), None, "once an instruction");
    }

    #[test]
    fn packer_is_looked_at_in_the_bank_of_its_thread() {
        let mut units = Units::default();
        let out = &field::THCON_SEC0_REG1_Out_data_format;
        set(&mut units, 1, out.addr32, out.insert(0, u32::from(BFLOAT16)));
        assert_eq!(units.packed(&[FLOAT32], at(&[buffer(0)])), None);
        let (word, slot) = (u32::from(Opcode::Pacr as u8) << 24, Slot::default());
        units.event(&Event::Issue { thread: ThreadId::T2, word, slot });
        set(&mut units, 4, field::CFG_STATE_ID_StateID.addr32, 1);
        let said = units.packed(&[FLOAT32], at(&[buffer(0)]));
        assert_eq!(said.as_deref(), Some("packs Float16_b into CB 0, which holds Float32"));
    }

    #[test]
    fn buffers_at_one_place_may_have_several_formats_and_some_are_not_known() {
        let formats = [BFLOAT16, FLOAT32, NONE, 8 | 16];
        let of = |set, indices: &[u8]| {
            let buffers: Vec<_> = indices.iter().map(|index| buffer(*index)).collect();
            differing(set, &formats, at(&buffers))
        };
        assert_eq!(of(FLOAT32, &[0]), Some((0, BFLOAT16)));
        assert_eq!(of(FLOAT32, &[0, 1]), None);
        assert_eq!(of(8, &[0, 1]), Some((0, BFLOAT16)));
        assert_eq!(of(FLOAT32, &[2]), None);
        assert_eq!(of(FLOAT32, &[0, 2]), None, "one of them may be Float32");
        assert_eq!(of(FLOAT32, &[9]), None);
        assert_eq!(of(8, &[3]), None, "unsigned");
    }
}
