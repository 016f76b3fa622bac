//! Output address generator and the buffers in front of L1.
//!
//! Output goes to L1 in aligned 16-byte blocks. Each of the three streams has an address and a
//! buffer of up to 15 bytes; both outlive the instruction, until `Last` or `Flush` writes what is
//! buffered, padded with zeroes, and asks for a new address.
//!
//! Source: `[isa-wh: TensixCoprocessor/Packers/OutputAddressGenerator.md]`.

use isa::config::field;
use sim_core::l1::L1_BYTES;
use sim_core::observer::Stamp;

use super::accumulate::Accumulate;
use super::settings::Settings;
use crate::env::Env;
use crate::state::adc::Channel;

/// One stream of output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stream {
    /// Byte address of the block being filled.
    pub(crate) address: u32,
    pub(crate) buffer: [u8; 16],
    pub(crate) buffered: u8,
    /// The next instruction sets the address.
    pub(crate) needs_address: bool,
}

impl Default for Stream {
    fn default() -> Self {
        Self { address: 0, buffer: [0; 16], buffered: 0, needs_address: true }
    }
}

/// The way to L1.
pub(crate) struct Port<'a, E> {
    pub(crate) env: &'a mut E,
    pub(crate) at: Stamp,
    /// Blocks written.
    pub(crate) blocks: u32,
    /// First address outside L1.
    pub(crate) outside: Option<u32>,
}

impl<E: Env> Port<'_, E> {
    #[inline]
    fn block(&mut self, address: u32, bytes: &[u8; 16], accumulate: Option<Accumulate>) {
        if address > L1_BYTES - 16 {
            self.outside.get_or_insert(address);
            return;
        }
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        if let Some(accumulate) = accumulate {
            let old = std::array::from_fn(|word| self.env.l1_word(address + 4 * word as u32));
            words = accumulate.words(old, words);
        }
        self.env.l1_write_words(address, &words, self.at);
        self.blocks += 1;
    }
}

impl Stream {
    /// Sets the address, in 16-byte units, if one is needed.
    fn begin(&mut self, address: u32) {
        if self.needs_address {
            self.address = (address & 0x1_FFFF) << 4;
            self.needs_address = false;
        }
    }

    /// Appends bytes, writing every block that they complete.
    #[inline]
    pub(crate) fn append<E: Env>(
        &mut self,
        mut bytes: &[u8],
        accumulate: Option<Accumulate>,
        port: &mut Port<'_, E>,
    ) {
        while !bytes.is_empty() {
            let at = usize::from(self.buffered);
            let take = bytes.len().min(16 - at);
            self.buffer[at..at + take].copy_from_slice(&bytes[..take]);
            bytes = &bytes[take..];
            self.buffered += take as u8;
            if self.buffered == 16 {
                let block = self.buffer;
                self.write(&block, accumulate, port);
            }
        }
    }

    /// Appends `N` words, whole blocks, while nothing is buffered.
    #[inline]
    pub(crate) fn row<const N: usize, E: Env>(
        &mut self,
        words: &[u32; N],
        accumulate: Option<Accumulate>,
        port: &mut Port<'_, E>,
    ) {
        let bytes = 4 * N as u32;
        if self.address <= L1_BYTES - bytes {
            if let Some(accumulate) = accumulate {
                let mut old = [0; N];
                port.env.l1_visit::<N>(self.address, |number, word| old[number] = word);
                port.env.l1_write_words(self.address, &accumulate.words(old, *words), port.at);
            } else {
                port.env.l1_write_words(self.address, words, port.at);
            }
            port.blocks += bytes / 16;
            self.address += bytes;
            return;
        }
        for block in words.as_chunks::<4>().0 {
            self.write(&bytemuck::cast(block.map(u32::to_le)), accumulate, port);
        }
    }

    /// Writes what is buffered, padded with zeroes, and forgets the address.
    pub(crate) fn flush<E: Env>(&mut self, accumulate: Option<Accumulate>, port: &mut Port<'_, E>) {
        if self.buffered != 0 {
            self.buffer[usize::from(self.buffered)..].fill(0);
            let block = self.buffer;
            self.write(&block, accumulate, port);
        }
        self.needs_address = true;
    }

    fn write<E: Env>(
        &mut self,
        block: &[u8; 16],
        accumulate: Option<Accumulate>,
        port: &mut Port<'_, E>,
    ) {
        port.block(self.address, block, accumulate);
        self.address = self.address.wrapping_add(16) & 0x1F_FFFF;
        self.buffered = 0;
    }
}

/// The three streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Streams {
    /// Row start indices of compressed output.
    pub(crate) row_starts: Stream,
    /// Shared exponents of block formats.
    pub(crate) exponents: Stream,
    pub(crate) data: Stream,
}

impl Streams {
    /// All streams get new addresses with the next instruction.
    pub(crate) fn forget_addresses(&mut self) {
        for stream in [&mut self.row_starts, &mut self.exponents, &mut self.data] {
            stream.needs_address = true;
        }
    }

    /// Gives addresses to the streams that need one. `channel` is channel 1 of the counters,
    /// `offset` what TDMA-RISC programmed.
    #[inline]
    pub(crate) fn begin(&mut self, settings: &Settings<'_>, channel: &Channel, offset: u16) {
        let compresses = settings.compresses();
        // Every output of at most eight bits has room for exponents, even where it has none.
        let narrow = settings.out_format() & 2 != 0;
        let needed = self.data.needs_address
            || narrow && self.exponents.needs_address
            || compresses && self.row_starts.needs_address;
        if !needed {
            return;
        }
        let mut address = address(settings, channel, offset);
        if compresses {
            self.row_starts.begin(address);
            address = address.wrapping_add(settings.row_start_section());
        }
        if narrow {
            self.exponents.begin(address);
            address = address.wrapping_add(settings.exponent_section());
        }
        self.data.begin(address);
    }
}

/// Where output goes, in 16-byte units, before the sections are added.
fn address(settings: &Settings<'_>, channel: &Channel, offset: u16) -> u32 {
    let own = |context| settings.dest_address_of(context).wrapping_add(settings.header_of(context));
    let context = settings.context();
    let mut address = own(context);
    let first = own(0);
    // With bit 31 set in the first context's address the others are relative to it.
    if context != 0 && first >> 31 != 0 {
        address = address.wrapping_add(first);
    }
    let words = settings.words();
    let counters = field::PCK0_ADDR_BASE_REG_1_Base
        .get(words)
        .wrapping_add(
            channel.y.value.wrapping_mul(field::PCK0_ADDR_CTRL_XY_REG_1_Ystride.get(words)),
        )
        .wrapping_add(
            channel.z.value.wrapping_mul(field::PCK0_ADDR_CTRL_ZW_REG_1_Zstride.get(words)),
        )
        .wrapping_add(
            channel.w.value.wrapping_mul(field::PCK0_ADDR_CTRL_ZW_REG_1_Wstride.get(words)),
        );
    // The counters make a byte address; vectors have it in units of 16 bytes, not 256 as on
    // Wormhole.
    address = address.wrapping_add(counters >> 4);
    if settings.adds_dest_offset() {
        address = address.wrapping_add(u32::from(offset));
    }
    let (limit, size) = settings.fifo();
    if address > limit * 2 + 1 {
        address = address.wrapping_sub(size * 2);
    }
    address
}
