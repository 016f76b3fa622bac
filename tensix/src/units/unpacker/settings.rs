//! What an `UNPACR` is asked to do: its own fields, the context it selects, and the configuration
//! of its unpacker, read once.
//!
//! Not here: addresses, which depend on the address counters as well.
//!
//! Sources: `[isa-wh: TensixCoprocessor/UNPACR_Regular.md]`,
//! `[llk: instructions/assembly.yaml#UNPACR]`, `[llk: llk_lib/hal/cfg/thcon.h]`.

use super::format::{self, Conversion, Formats};
use crate::checks::Check;
use crate::timing::amounts::Speed;
use crate::units::config::{ConfigUnit, STATE_WORDS};
use crate::units::{Fault, Issued};
use isa::config::{ConfigField, field};
use isa::operands::Unpacr;

use super::unpacker_of;

/// Words between the THCON sections of the two unpackers.
const SECTION_WORDS: u32 =
    field::THCON_SEC1_REG2_Out_data_format.addr32 - field::THCON_SEC0_REG2_Out_data_format.addr32;

/// Increments of Z and Y of channel 0, then of channel 1.
pub(crate) const fn increments(word: Unpacr) -> [(u32, u32); 2] {
    let Unpacr { ch0_z_increment, ch0_y_increment, ch1_z_increment, ch1_y_increment, .. } = word;
    [(ch0_z_increment, ch0_y_increment), (ch1_z_increment, ch1_y_increment)]
}

/// One unpacker's configuration words in one of the two states.
#[derive(Clone, Copy)]
pub(crate) struct Section<'a> {
    words: &'a [u32; STATE_WORDS],
    unpacker: usize,
}

impl<'a> Section<'a> {
    /// The words that instructions of `thread` use.
    pub(crate) fn new(config: &'a ConfigUnit, thread: usize, unpacker: usize) -> Self {
        Self { words: &config.states[config.state_id(thread)], unpacker }
    }

    fn word(&self, index: u32) -> u32 {
        self.words[index as usize % STATE_WORDS]
    }

    /// A word of this unpacker's THCON section, by its index in section 0.
    fn thcon_word(&self, index: u32) -> u32 {
        self.word(index + SECTION_WORDS * self.unpacker as u32)
    }

    /// A field of this unpacker's THCON section, given as the field of section 0.
    pub(crate) fn thcon(&self, field: &ConfigField) -> u32 {
        field.of_word(self.thcon_word(field.addr32))
    }

    /// A field that has one name per unpacker.
    pub(crate) fn own(&self, fields: [&ConfigField; 2]) -> u32 {
        let field = fields[self.unpacker];
        field.of_word(self.word(field.addr32))
    }

    /// Bit of a context: contexts 0 to 3 from bit `low` on, 4 to 7 from bit `low + 16` on.
    fn context_bit(&self, field: &ConfigField, context: u32) -> bool {
        let bit = u32::from(field.lo) + (context & 3) + (context >> 2) * 16;
        self.thcon_word(field.addr32) >> bit & 1 != 0
    }

    /// Half-word of a context: `field` is that of context 0, two contexts to a word.
    fn context_half(&self, field: &ConfigField, context: u32) -> u32 {
        let context = context & 3;
        self.thcon_word(field.addr32 + context / 2) >> (16 * (context & 1)) & 0xFFFF
    }

    /// The context counter's successor `[isa-wh: UNPACR_IncrementContextCounter.md]`. The count
    /// that is no power of two has a header comment only `[llk: llk_lib/hal/cfg/thcon.h]`.
    pub(crate) fn next_context(&self, context: u32) -> u8 {
        let next = (context + 1) & 7;
        let count = if self.thcon(&field::THCON_SEC0_REG2_Context_count_non_log2_en) != 0 {
            self.thcon(&field::THCON_SEC0_REG2_Context_count_non_log2)
        } else {
            1 << self.thcon(&field::THCON_SEC0_REG2_Context_count)
        };
        if next >= count { 0 } else { next as u8 }
    }
}

/// The tile descriptor, four words `[isa-wh: TensixCoprocessor/UNPACR_Regular.md]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Descriptor(pub(crate) [u32; 4]);

impl Descriptor {
    pub(crate) const fn format(&self) -> u32 {
        self.0[0] & 0xF
    }

    pub(crate) const fn is_uncompressed(&self) -> bool {
        self.0[0] >> 4 & 1 != 0
    }

    pub(crate) const fn no_exponent_section(&self) -> bool {
        self.0[0] >> 5 & 1 != 0
    }

    pub(crate) const fn blobs_per_plane(&self) -> u32 {
        self.0[0] >> 8 & 7
    }

    pub(crate) const fn x_dim(&self) -> u32 {
        self.0[0] >> 16
    }

    pub(crate) const fn y_dim(&self) -> u32 {
        self.0[1] & 0xFF
    }

    pub(crate) const fn z_dim(&self) -> u32 {
        at_least_one(self.0[1] >> 16 & 0xFF)
    }

    pub(crate) const fn w_dim(&self) -> u32 {
        at_least_one(self.0[2] & 0xFF)
    }

    /// First row of each of eight blobs, in units of 16 datums, four bits each.
    pub(crate) const fn blobs_y_start(&self) -> u32 {
        self.0[2] >> 16 | self.0[3] << 16
    }

    pub(crate) const fn digest_size(&self) -> u32 {
        self.0[3] >> 24
    }
}

const fn at_least_one(value: u32) -> u32 {
    if value == 0 { 1 } else { value }
}

/// A circular buffer in L1: addresses above `limit` come back by `size`; both in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fifo {
    pub(crate) limit: u64,
    pub(crate) size: u64,
}

/// Everything an `UNPACR` takes from its word and the configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    pub(crate) unpacker: usize,
    pub(crate) context: u32,
    /// Thread whose address counters give X and Y of the input.
    pub(crate) adc: usize,
    pub(crate) descriptor: Descriptor,
    pub(crate) uncompressed: bool,
    pub(crate) x_dim: u32,
    pub(crate) blobs_y_start: u32,
    pub(crate) datum_bits: u32,
    pub(crate) is_bfp: bool,
    pub(crate) output_format: u32,
    pub(crate) conversion: Conversion,
    /// Base plus offset, in 16-byte units.
    pub(crate) base: u32,
    pub(crate) forced_exponent: Option<u8>,
    /// BFP8 and BFP8a have an exponent section whatever the descriptor says.
    pub(crate) has_exponent_section: bool,
    pub(crate) fifo: Fifo,
    /// Bytes from one input row to the next, if they are not contiguous.
    pub(crate) row_stride: Option<u32>,
    pub(crate) to_dst: bool,
    pub(crate) transpose: bool,
    pub(crate) column_shift: u32,
    pub(crate) upsample_zeroes: u32,
    pub(crate) upsample_interleave: bool,
    /// Base and per-context address of the output, and how they combine.
    pub(crate) output_base: u32,
    pub(crate) output_strides: [u32; 3],
    pub(crate) context_output: Option<(u32, bool)>,
}

/// Which context and whose address counters an `UNPACR` uses.
///
/// # Errors
/// `UndefinedBehavior`: unpacker 1 has two contexts; there is no fourth thread.
pub(crate) fn select_context(
    issued: &Issued,
    config: &ConfigUnit,
    counter: u8,
) -> Result<(u32, usize), Fault> {
    let word = Unpacr::of(issued.word);
    let thread = issued.thread.index();
    if !word.ovrd_thread_id {
        return Ok((0, thread));
    }
    let offset =
        [&field::UNPACK_MISC_CFG_CfgContextOffset_0, &field::UNPACK_MISC_CFG_CfgContextOffset_1]
            [unpacker_of(issued.word)];
    let first = if word.auto_inc_context_id { u32::from(counter) } else { word.cfg_context_id };
    let mut context = (first + config.thread_field(thread, offset)) & 7;
    if unpacker_of(issued.word) == 1 && context >= 2 {
        let text = format!("context {context} of unpacker 1, which has two");
        issued.refuse(Check::UnpackContext, text)?;
        context &= 1;
    }
    // Which thread's counters context 0 means is documented as thread 0 for Wormhole; on Blackhole
    // the reference vectors of other threads show the thread's own [unknown: U-056].
    let adc = match word.addr_cnt_context_id as usize {
        0 => thread,
        3 => {
            let text = "address counter context 3; there are three threads";
            issued.refuse(Check::UnpackAdc, text)?;
            thread
        }
        adc => adc,
    };
    Ok((context, adc))
}

impl Settings {
    /// Reads the configuration for one `UNPACR`.
    ///
    /// # Errors
    /// `UndefinedBehavior` for pairs of formats that the unpackers cannot convert and for
    /// combinations of modes that the documents exclude.
    pub(crate) fn read(
        issued: &Issued,
        config: &ConfigUnit,
        (context, adc): (u32, usize),
    ) -> Result<Self, Fault> {
        let unpacker = unpacker_of(issued.word);
        let section = Section::new(config, issued.thread.index(), unpacker);
        let selected = Selected::new(section, Unpacr::of(issued.word).ovrd_thread_id, context);
        let descriptor = selected.descriptor;
        let formats = selected.formats();
        let unconverted = Formats { output: formats.input, ..formats };
        let conversion = formats.conversion().or_else(|| {
            if issued.allows(Check::UnpackFormats) { unconverted.conversion() } else { None }
        });
        let Some((conversion, datum_bits)) = conversion.zip(format::datum_bits(formats.input))
        else {
            return Err(no_conversion(issued, &formats));
        };
        let tileize = section.thcon(&field::THCON_SEC0_REG2_Tileize_mode) != 0;
        let shift_amounts = section.thcon_word(field::THCON_SEC0_REG2_Shift_amount_cntx0.addr32)
            >> field::THCON_SEC0_REG2_Shift_amount_cntx0.lo;
        let mut settings = Self {
            unpacker,
            context,
            adc,
            descriptor,
            uncompressed: selected.is_uncompressed(),
            x_dim: selected.x_dim(),
            blobs_y_start: selected.blobs_y_start(),
            datum_bits,
            is_bfp: format::is_bfp(formats.input),
            output_format: formats.output,
            conversion,
            base: base(&section, Unpacr::of(issued.word).ovrd_thread_id, context),
            forced_exponent: forced_exponent(&section),
            has_exponent_section: datum_bits == 8 || !descriptor.no_exponent_section(),
            fifo: fifo(&section, context),
            row_stride: tileize.then_some((shift_amounts & 0xFFF) << 4),
            to_dst: formats.to_dst,
            transpose: unpacker == 0 && section.thcon(&field::THCON_SEC0_REG2_Haloize_mode) != 0,
            column_shift: if tileize || unpacker == 1 {
                0
            } else {
                shift_amounts >> (4 * (context & 3)) & 0xF
            },
            upsample_zeroes: (1 << section.thcon(&field::THCON_SEC0_REG2_Upsample_rate)) - 1,
            upsample_interleave: section.thcon(&field::THCON_SEC0_REG2_Upsample_and_interleave)
                != 0,
            output_base: section
                .own([&field::UNP0_ADDR_BASE_REG_1_Base, &field::UNP1_ADDR_BASE_REG_1_Base]),
            output_strides: strides(&section),
            context_output: selected.output(formats.to_dst),
        };
        settings.check(issued)?;
        Ok(settings)
    }

    /// Reads again what changes without [`ConfigUnit::forms`].
    #[inline]
    pub(crate) fn renew_base(&mut self, issued: &Issued, config: &ConfigUnit) {
        let section = Section::new(config, issued.thread.index(), self.unpacker);
        self.base = base(&section, Unpacr::of(issued.word).ovrd_thread_id, self.context);
    }

    /// Bytes of L1 that so many datums take, exponents apart.
    pub(crate) const fn bytes_of(&self, datums: u32) -> u64 {
        (datums as u64 * self.datum_bits as u64).div_ceil(8)
    }

    /// How fast L1 is read: what `Throttle_mode` asks for, unless the mode of unpacking wants
    /// something else `[isa-wh: TensixCoprocessor/UNPACR_Regular.md]`.
    pub(crate) const fn speed(&self, throttle_mode: u32) -> Speed {
        let asked = Speed::of_throttle_mode(throttle_mode);
        if self.row_stride.is_some() {
            Speed::X4
        } else if !self.uncompressed || self.upsample_zeroes >= 3 || self.datum_bits == 2 {
            Speed::X1
        } else if self.upsample_zeroes == 1 || self.to_dst && self.datum_bits == 4 {
            asked.at_most(Speed::X2)
        } else {
            asked
        }
    }

    /// Refuses modes that exclude each other; if that is lowered, one of them is off.
    fn check(&mut self, issued: &Issued) -> Result<(), Fault> {
        if self.row_stride.is_some() && (self.upsample_zeroes > 0 || !self.uncompressed) {
            let text = "tile making together with upsampling or decompression";
            issued.refuse(Check::UnpackModes, text)?;
            (self.upsample_zeroes, self.uncompressed) = (0, true);
        }
        if self.to_dst && (self.column_shift != 0 || self.transpose) {
            let text = "unpacking to Dst together with a column shift or transposition";
            issued.refuse(Check::UnpackModes, text)?;
            (self.column_shift, self.transpose) = (0, false);
        }
        Ok(())
    }
}

/// What the context of an `UNPACR` may say in place of the descriptor or the section.
#[derive(Clone, Copy)]
struct Selected<'a> {
    section: Section<'a>,
    descriptor: Descriptor,
    /// Whether the word selects a context; without, the descriptor and the section are all there is.
    multi: bool,
    context: u32,
}

impl<'a> Selected<'a> {
    fn new(section: Section<'a>, multi: bool, context: u32) -> Self {
        let first = field::THCON_SEC0_REG0_TileDescriptor.addr32;
        let descriptor = Descriptor([0, 1, 2, 3].map(|index| section.thcon_word(first + index)));
        Self { section, descriptor, multi, context }
    }

    /// Whether it selects a context of unpacker 0, whose contexts have fields of their own.
    const fn is_of_first(&self) -> bool {
        self.multi && self.section.unpacker == 0
    }

    fn is_to_dst(&self) -> bool {
        let Self { section, context, .. } = self;
        let selected = if self.multi {
            section.context_bit(&field::THCON_SEC0_REG2_Unpack_if_sel_cntx0, *context)
        } else {
            section.thcon(&field::THCON_SEC0_REG2_Unpack_If_Sel) != 0
        };
        section.unpacker == 0 && selected
    }

    fn formats(&self) -> Formats {
        let Self { section, .. } = self;
        let (input, output) = self.format_codes();
        Formats {
            input,
            output,
            to_dst: self.is_to_dst(),
            four_bit_exponent: section.thcon(&field::THCON_SEC0_REG1_Unp_LF8_4b_exp) != 0,
            unsigned: section.own([
                &field::ALU_FORMAT_SPEC_REG0_SrcAUnsigned,
                &field::ALU_FORMAT_SPEC_REG0_SrcBUnsigned,
            ]) != 0,
        }
    }

    /// Input and output format codes.
    fn format_codes(&self) -> (u32, u32) {
        let Self { section, descriptor, multi, context } = self;
        if *multi && section.thcon(&field::THCON_SEC0_REG2_Ovrd_data_format) != 0 {
            let first = field::THCON_SEC0_REG7_Unpack_data_format_cntx0;
            let word = section.thcon_word(first.addr32 + (context & 3));
            let bits = word >> (u32::from(first.lo) + 8 * (context >> 2));
            (bits & 0xF, bits >> 4 & 0xF)
        } else {
            (descriptor.format(), section.thcon(&field::THCON_SEC0_REG2_Out_data_format))
        }
    }

    fn is_uncompressed(&self) -> bool {
        if self.multi {
            let field = &field::THCON_SEC0_REG2_Disable_zero_compress_cntx0;
            self.section.context_bit(field, self.context)
        } else {
            self.descriptor.is_uncompressed()
        }
    }

    fn x_dim(&self) -> u32 {
        if self.is_of_first() {
            self.section.context_half(&field::THCON_SEC0_REG5_Tile_x_dim_cntx0, self.context)
        } else {
            self.descriptor.x_dim()
        }
    }

    fn blobs_y_start(&self) -> u32 {
        if self.is_of_first() {
            let first = field::UNP0_BLOBS_Y_START_CNTX_01_blobs_y_start.addr32;
            self.section.word(first + (self.context >> 1 & 1))
        } else {
            self.descriptor.blobs_y_start()
        }
    }

    /// Address of the output, and whether the base is added to it.
    fn output(&self, to_dst: bool) -> Option<(u32, bool)> {
        let Self { section, context, .. } = self;
        self.is_of_first().then(|| {
            let field = &field::THCON_SEC0_REG5_Dest_cntx0_address;
            let add = section.own([
                &field::UNP0_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr,
                &field::UNP1_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr,
            ]);
            (section.context_half(field, *context), to_dst || add != 0)
        })
    }
}

/// Base and offset of the input, added, in 16-byte units. `multi`: the word selects a context.
fn base(section: &Section<'_>, multi: bool, context: u32) -> u32 {
    let context = if multi { context } else { 0 };
    let base = section.thcon_word(field::THCON_SEC0_REG3_Base_address.addr32 + context);
    let offset =
        section.thcon_word(field::THCON_SEC0_REG7_Offset_address.addr32 + (context & 3)) & 0xFFFF;
    base.wrapping_add(offset)
}

/// The exponent that all blocks share, if one is forced on them.
fn forced_exponent(section: &Section<'_>) -> Option<u8> {
    let exponent =
        [&field::UNP0_FORCED_SHARED_EXP_shared_exp, &field::UNP1_FORCED_SHARED_EXP_shared_exp];
    let is_forced = section.thcon(&field::THCON_SEC0_REG2_Force_shared_exp) != 0;
    is_forced.then(|| section.own(exponent) as u8)
}

/// The circular buffer; context 1 has one of its own if that is enabled
/// `[llk: llk_lib/hal/cfg/thcon.h]`.
fn fifo(section: &Section<'_>, context: u32) -> Fifo {
    let own = context == 1 && section.thcon(&field::THCON_SEC0_REG10_Unpack_limit_address_en) != 0;
    let (limit, size) = if own {
        (&field::THCON_SEC0_REG10_Unpack_limit_address, &field::THCON_SEC0_REG10_Unpack_fifo_size)
    } else {
        (&field::THCON_SEC0_REG2_Unpack_limit_address, &field::THCON_SEC0_REG2_Unpack_fifo_size)
    };
    Fifo { limit: u64::from(section.thcon(limit)) * 16, size: u64::from(section.thcon(size)) * 16 }
}

/// Strides of Y, Z and W of the output.
fn strides(section: &Section<'_>) -> [u32; 3] {
    [
        section.own([
            &field::UNP0_ADDR_CTRL_XY_REG_1_Ystride,
            &field::UNP1_ADDR_CTRL_XY_REG_1_Ystride,
        ]),
        section.own([
            &field::UNP0_ADDR_CTRL_ZW_REG_1_Zstride,
            &field::UNP1_ADDR_CTRL_ZW_REG_1_Zstride,
        ]),
        section.own([
            &field::UNP0_ADDR_CTRL_ZW_REG_1_Wstride,
            &field::UNP1_ADDR_CTRL_ZW_REG_1_Wstride,
        ]),
    ]
}

#[cold]
fn no_conversion(issued: &Issued, formats: &Formats) -> Fault {
    let name = |code| isa::names::format(code).map_or("no format", |row| row.name);
    let target = if formats.to_dst { "Dst" } else { "SrcA or SrcB" };
    issued.error(
        Check::UnpackFormats,
        format!(
            "no conversion from {} ({}) to {} ({}) in {target}",
            name(formats.input),
            formats.input,
            name(formats.output),
            formats.output
        ),
    )
}
