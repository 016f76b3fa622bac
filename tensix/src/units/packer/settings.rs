//! The configuration that one instruction works with, sampled when it issues.
//!
//! Blackhole has one packer; the register sets that configure Wormhole's four packers configure
//! its four contexts `[hdr: hal/cfg/thcon.h, "Section 0 for contexts 0/1"]`. Context *c* uses set
//! *c* of every group: `THCON_SEC0_REG1`, `THCON_SEC0_REG8`, `THCON_SEC1_REG1`, `THCON_SEC1_REG8`.
//! Vectors and vendor software use context 0 only [inferred: the order of the sets].

use isa::config::field;

use super::formats;
use crate::units::config::ConfigUnit;

/// First word of the set of each context.
const SETS: [usize; 4] = [
    field::THCON_SEC0_REG1_Row_start_section_size.addr32 as usize,
    field::THCON_SEC0_REG8_Row_start_section_size.addr32 as usize,
    field::THCON_SEC1_REG1_Row_start_section_size.addr32 as usize,
    field::THCON_SEC1_REG8_Row_start_section_size.addr32 as usize,
];
/// Limit address of each context's output FIFO; its size is in the next word.
const LIMITS: [usize; 4] = [
    field::THCON_SEC0_REG9_Pack_0_2_limit_address.addr32 as usize,
    field::THCON_SEC0_REG9_Pack_1_3_limit_address.addr32 as usize,
    field::THCON_SEC1_REG9_Pack_0_2_limit_address.addr32 as usize,
    field::THCON_SEC1_REG9_Pack_1_3_limit_address.addr32 as usize,
];
/// Four words each.
const COUNTERS: usize = field::PACK_COUNTERS_SEC0_pack_per_xy_plane.addr32 as usize;
const DEST_TARGETS: usize = field::DEST_TARGET_REG_CFG_PACK_SEC0_Offset.addr32 as usize;
const ROW_SETS: usize = field::TILE_ROW_SET_MAPPING_0_row_set_mapping_0.addr32 as usize;
const FACE_SETS: usize = field::TILE_FACE_SET_MAPPING_0_face_set_mapping_0.addr32 as usize;
const EDGE_MASKS: usize = field::PCK_EDGE_OFFSET_SEC0_mask.addr32 as usize;
const DESCALE: usize = field::INT_DESCALE_VALUES_SEC0_Value.addr32 as usize;

/// One state of thread-agnostic configuration as context `context` of the packer sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<'a> {
    words: &'a [u32],
    context: usize,
    /// Word 2 of the context's set: formats and flags.
    flags: u32,
    /// Word 3: downsampling, accumulation, exponent threshold.
    stages: u32,
}

impl<'a> Settings<'a> {
    /// What an instruction of `thread` in context `context` (modulo 4) reads.
    #[inline]
    pub(crate) fn new(config: &'a ConfigUnit, thread: usize, context: u32) -> Self {
        let words: &[u32] = &config.states[config.state_id(thread)];
        let context = context as usize & 3;
        let set = SETS[context];
        Self { words, context, flags: words[set + 2], stages: words[set + 3] }
    }

    pub(crate) const fn words(&self) -> &'a [u32] {
        self.words
    }

    pub(crate) const fn context(&self) -> usize {
        self.context
    }

    /// Whether the set is one of the two with the layout of `REG8`.
    const fn is_second_layout(&self) -> bool {
        self.context & 1 != 0
    }

    const fn flag(&self, bit: u32) -> bool {
        self.flags >> bit & 1 != 0
    }

    /// `Out_data_format`.
    pub(crate) const fn out_format(&self) -> u8 {
        (self.flags >> 4 & 0xF) as u8
    }

    /// `In_data_format` as written.
    pub(crate) const fn in_format(&self) -> u8 {
        (self.flags >> 8 & 0xF) as u8
    }

    /// `IntermediateFormat`: what the early conversion produces.
    pub(crate) const fn intermediate(&self) -> u8 {
        let format = if field::ALU_FORMAT_SPEC_REG_Dstacc_override.get(self.words) != 0 {
            field::ALU_FORMAT_SPEC_REG_Dstacc_val.get(self.words)
        } else {
            field::ALU_FORMAT_SPEC_REG2_Dstacc.get(self.words)
        };
        formats::per_datum(format as u8)
    }

    /// Whether rows with many zeroes are compressed. The flag alone does not decide: vectors clear
    /// it without reserving room for the row start indices and see uncompressed output, so both
    /// are needed [unknown: U-045].
    pub(crate) const fn compresses(&self) -> bool {
        !self.flag(0) && self.row_start_section() != 0
    }

    pub(crate) const fn adds_dest_offset(&self) -> bool {
        self.flag(1)
    }

    /// `Enable_out_fifo`: finished tiles go to the metadata FIFO.
    pub(crate) const fn reports_tiles(&self) -> bool {
        self.flag(14)
    }

    pub(crate) const fn disables_zero_flags(&self) -> bool {
        self.flag(2)
    }

    /// `Dis_shared_exp_assembler`.
    pub(crate) const fn keeps_own_exponents(&self) -> bool {
        self.flag(12)
    }

    /// `Gasket_srnd_en`: the early conversion rounds stochastically.
    pub(crate) const fn dithers_cells(&self) -> bool {
        field::ALU_ROUNDING_MODE_Gasket_srnd_en.get(self.words) != 0
    }

    /// `Packer_srnd_en`: datums of block formats are rounded stochastically.
    pub(crate) const fn dithers_blocks(&self) -> bool {
        field::ALU_ROUNDING_MODE_Packer_srnd_en.get(self.words) != 0
    }

    /// `Auto_set_last_pacr_intf_sel`.
    pub(crate) const fn selects_last_interfaces(&self) -> bool {
        self.flag(13)
    }

    /// `Source_interface_selection`: datums come from L1.
    pub(crate) const fn reads_l1(&self) -> bool {
        self.flag(16)
    }

    /// `pack_start_intf_pos` of the context; the second layout has no such field, its contexts
    /// use the upper half of their neighbour's.
    pub(crate) const fn start_interface(&self) -> u32 {
        self.words[SETS[self.context & 2] + 2] >> (17 + 2 * (self.context & 1)) & 3
    }

    /// `Add_tile_header_size`: the accumulated tile size counts the header.
    pub(crate) const fn counts_header(&self) -> bool {
        self.flag(if self.is_second_layout() { 17 } else { 22 })
    }

    /// Bits 25:18 of the L1 address of datums that come from L1.
    pub(crate) const fn l1_source(&self) -> u32 {
        self.flags >> 24
    }

    /// `Downsample_mask`, with "all" for zero.
    pub(crate) const fn downsample_mask(&self) -> u16 {
        match self.stages as u16 {
            0 => 0xFFFF,
            mask => mask,
        }
    }

    /// `Pack_L1_Acc`.
    pub(crate) const fn accumulates(&self) -> bool {
        self.stages >> 19 & 1 != 0
    }

    /// Exponents below this become zero, if thresholding is on.
    pub(crate) const fn exponent_threshold(&self) -> Option<u32> {
        if self.stages >> 20 & 1 != 0 { Some(self.stages >> 24) } else { None }
    }

    /// FP8 output has four exponent bits. One flag for each pair of contexts.
    pub(crate) const fn fp8_is_e4m3(&self) -> bool {
        self.words[SETS[self.context & 2] + 3] >> 23 & 1 != 0
    }

    /// 16-byte units before the exponents (or data): row start indices.
    pub(crate) const fn row_start_section(&self) -> u32 {
        self.words[SETS[self.context]] & 0xFFFF
    }

    /// 16-byte units before the data: block exponents.
    pub(crate) const fn exponent_section(&self) -> u32 {
        self.words[SETS[self.context]] >> 16
    }

    /// `L1_Dest_addr` of a context, in 16-byte units.
    pub(crate) const fn dest_address_of(&self, context: usize) -> u32 {
        self.words[SETS[context & 3] + 1]
    }

    /// 16-byte units that the tile header takes in context `context`.
    pub(crate) const fn header_of(&self, context: usize) -> u32 {
        !(self.words[SETS[context & 3] + 2] >> 15) & 1
    }

    /// Limit address and size of the output FIFO, in 32-byte units.
    pub(crate) const fn fifo(&self) -> (u32, u32) {
        let at = LIMITS[self.context];
        (self.words[at] & 0x1_FFFF, self.words[at + 1] & 0x1_FFFF)
    }

    /// `DEST_TARGET_REG_CFG_PACK` offset, in rows.
    pub(crate) const fn dest_offset(&self) -> u32 {
        self.words[DEST_TARGETS + self.context] & 0xFFF
    }

    /// `DEST_TARGET_REG_CFG_PACK` Z offset.
    pub(crate) const fn z_offset(&self) -> u32 {
        self.words[DEST_TARGETS + self.context] >> 12 & 0x3F
    }

    /// `pack_per_xy_plane` and the other counters of the context.
    const fn counters(&self) -> u32 {
        self.words[COUNTERS + self.context]
    }

    /// `pack_reads_per_xy_plane`: rows in a plane.
    pub(crate) const fn rows_per_plane(&self) -> u32 {
        self.counters() >> 8 & 0xFF
    }

    /// `pack_yz_transposed`.
    pub(crate) const fn is_yz_transposed(&self) -> bool {
        self.counters() >> 23 & 1 != 0
    }

    /// `auto_ctxt_inc_xys_cnt`: planes after which the context advances, or zero.
    pub(crate) const fn planes_per_context(&self) -> u32 {
        self.counters() >> 24
    }

    /// Which of the four row mappings a tile row at depth `z` uses.
    pub(crate) const fn row_mapping(&self, z: u32) -> u32 {
        let shift = 2 * self.context;
        if field::PCK_EDGE_TILE_FACE_SET_SELECT_enable.get(self.words) != 0 {
            let select = field::PCK_EDGE_TILE_FACE_SET_SELECT_select.get(self.words) >> shift & 3;
            self.words[FACE_SETS + select as usize] >> (2 * (z & 15)) & 3
        } else {
            field::PCK_EDGE_TILE_ROW_SET_SELECT_select.get(self.words) >> shift & 3
        }
    }

    /// Columns of tile row `y` that pass, by row mapping.
    pub(crate) const fn edge_mask(&self, mapping: u32, y: u32) -> u16 {
        let section = self.words[ROW_SETS + (mapping & 3) as usize] >> (2 * (y & 15)) & 3;
        self.words[EDGE_MASKS + section as usize] as u16
    }

    /// Right shift of integers at depth `z` on their way to eight bits. In mode 1 one byte per
    /// depth; the documents do not name the counter, its width is that of the Z offset
    /// [unknown: U-050].
    pub(crate) const fn descale_shift(&self, z: u32) -> u32 {
        let value = if field::INT_DESCALE_Enable.get(self.words) == 0 {
            0
        } else if field::INT_DESCALE_Mode.get(self.words) == 0 {
            self.words[DESCALE]
        } else {
            self.words[DESCALE + (z >> 2 & 15) as usize] >> (8 * (z & 3))
        };
        value & 0x1F
    }
}
