//! What a matrix-unit instruction works on: formats, rows, fidelity phase.
//!
//! Sources: the functional models of `[isa-wh: TensixCoprocessor/MVMUL.md]`, `ELWMUL.md`,
//! `MOVA2D.md`, `MOVB2D.md`, `MOVD2A.md`, `MOVD2B.md`; implied formats `[spec: numerics 1.2]`.

use super::MatrixUnit;
use crate::checks::Check;
use crate::state::dst::DstMap;
use crate::state::src::SrcBanks;
use crate::units::config::ConfigUnit;
use crate::units::{Fault, Issued};
use isa::config::field;
use sim_core::ThreadId;

/// FP16.
const FP16: u8 = 1;
/// TF32, the only format code with ten mantissa bits and an eight-bit exponent.
pub(crate) const TF32: u8 = 4;

/// How a cell of SrcA or SrcB is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// Eight exponent bits, the top seven of ten mantissa bits.
    Bf16,
    /// Five exponent bits, ten mantissa bits.
    Fp16,
    /// Eight exponent bits, ten mantissa bits.
    Tf32,
}

impl Style {
    /// The style of a format code `[isa-wh: TensixCoprocessor/MVMUL.md]`. Codes 12 and 13, which
    /// name no format, fall among the eight-bit exponents [unknown: U-064].
    pub(crate) const fn of(format: u8) -> Self {
        match format {
            1 | 2 | 3 | 10 | 11 | 14 => Self::Fp16,
            TF32 => Self::Tf32,
            _ => Self::Bf16,
        }
    }

    /// The bits of a cell that take part in arithmetic.
    #[inline]
    pub(crate) const fn mask(self) -> u32 {
        match self {
            Self::Bf16 => 0x7_FFF8,
            Self::Fp16 => 0x4_7FFF,
            Self::Tf32 => 0x7_FFFF,
        }
    }

    /// Whether the exponent has five bits.
    pub(crate) const fn is_narrow(self) -> bool {
        matches!(self, Self::Fp16)
    }
}

/// Where in the register files one instruction of one thread works, and with what formats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Format code of SrcA, as the register or the bank says.
    pub(crate) format_a: u8,
    pub(crate) format_b: u8,
    pub(crate) style_a: Style,
    pub(crate) style_b: Style,
    /// Integer arithmetic on INT8 and INT32.
    pub(crate) int8: bool,
    /// `FP16A_FORCE_Enable`: everything is FP16 and Dst is accessed as half-words.
    pub(crate) forced: bool,
    /// Arithmetic accesses Dst as words.
    pub(crate) wide: bool,
    /// SrcB operands (and moved datums) with exponent zero count as zero.
    pub(crate) flush: bool,
    pub(crate) phase: u32,
    /// Row of Dst: instruction, counter, offset and base, before alignment.
    pub(crate) dst_row: u32,
    /// Row counters of the thread.
    pub(crate) src_a_row: u32,
    pub(crate) src_b_row: u32,
    pub(crate) map: DstMap,
}

impl Setup {
    /// The set-up of an instruction of a thread that names row `dst` of Dst.
    #[inline]
    pub(crate) fn new(
        unit: &MatrixUnit,
        thread: ThreadId,
        dst: u32,
        config: &ConfigUnit,
        src: &[SrcBanks; 2],
    ) -> Self {
        let thread = thread.index();
        let state = &config.states[config.state_id(thread)];
        let forced = config.thread_field(thread, &field::FP16A_FORCE_Enable) != 0;
        let int8 = !forced && field::ALU_ACC_CTRL_INT8_math_enabled.get(state) != 0;
        let fp32 = field::ALU_ACC_CTRL_Fp32_enabled.get(state) != 0;
        let format_a = match config.thread_field(thread, &field::DISABLE_IMPLIED_SRCA_FMT_Base) {
            0 => src[0].matrix_side().1,
            _ => register_a(state),
        };
        let format_b = match config.thread_field(thread, &field::DISABLE_IMPLIED_SRCB_FMT_Base) {
            0 => src[1].matrix_side().1,
            _ => register_b(state),
        };
        let style = |format| if forced { Style::Fp16 } else { Style::of(format) };
        let rwc = &unit.rwcs[thread];
        let base = config.thread_field(thread, &field::FIDELITY_BASE_Phase);
        Self {
            format_a,
            format_b,
            style_a: style(format_a),
            style_b: style(format_b),
            int8,
            forced,
            wide: !forced && (int8 || fp32),
            flush: field::ALU_ACC_CTRL_Zero_Flag_disabled_src.get(state) == 0,
            phase: (u32::from(rwc.fidelity) + base) & 3,
            dst_row: dst
                .wrapping_add(config.thread_field(thread, &field::DEST_TARGET_REG_CFG_MATH_Offset))
                .wrapping_add(u32::from(rwc.dst))
                .wrapping_add(field::DEST_REGW_BASE_Base.get(state)),
            src_a_row: u32::from(rwc.src_a),
            src_b_row: u32::from(rwc.src_b),
            map: DstMap::of(state),
        }
    }

    /// The set-up of a move that reads or writes SrcB: the format of that bank stands for SrcA's
    /// too `[spec: numerics 1.2]`.
    pub(crate) fn for_src_b(
        unit: &MatrixUnit,
        thread: ThreadId,
        dst: u32,
        config: &ConfigUnit,
        src: &[SrcBanks; 2],
    ) -> Self {
        let mut setup = Self::new(unit, thread, dst, config, src);
        if config.thread_field(thread.index(), &field::DISABLE_IMPLIED_SRCA_FMT_Base) == 0 {
            setup.format_a = src[1].matrix_side().1;
            if !setup.forced {
                setup.style_a = Style::of(setup.format_a);
            }
        }
        let is_cut = is_other_narrow(setup.format_b) && !is_other_narrow(setup.format_a);
        if is_cut && !setup.forced {
            setup.style_b = Style::Bf16;
        }
        setup
    }

    /// Refuses operand formats that no combination of the documents' table contains.
    pub(crate) fn checked(self, issued: &Issued) -> Result<Self, Fault> {
        if self.int8 || self.style_a.is_narrow() == self.style_b.is_narrow() {
            return Ok(self);
        }
        issued.refuse(
            Check::FpuFormats,
            "one of SrcA and SrcB holds five-bit, the other eight-bit exponents",
        )?;
        Ok(self)
    }
}

/// Whether a format has five-bit exponents and is not FP16. Of a SrcB cell in such a format a move to Dst keeps what a
/// BF16 has, if SrcA's format is none of them `[ttsim: observed]`.
const fn is_other_narrow(format: u8) -> bool {
    Style::of(format).is_narrow() && format != FP16
}

fn register_a(state: &[u32]) -> u8 {
    if field::ALU_FORMAT_SPEC_REG_SrcA_override.get(state) != 0 {
        field::ALU_FORMAT_SPEC_REG_SrcA_val.get(state) as u8
    } else {
        field::ALU_FORMAT_SPEC_REG0_SrcA.get(state) as u8
    }
}

fn register_b(state: &[u32]) -> u8 {
    if field::ALU_FORMAT_SPEC_REG_SrcB_override.get(state) != 0 {
        field::ALU_FORMAT_SPEC_REG_SrcB_val.get(state) as u8
    } else {
        field::ALU_FORMAT_SPEC_REG1_SrcB.get(state) as u8
    }
}
