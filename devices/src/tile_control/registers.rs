//! Names and offsets of the tile control block.
//!
//! Source: `[hdr: hw/inc/internal/tt-1xx/blackhole/tensix.h]`; offsets are relative to
//! 0xFFB12000.

pub(super) const DBG_BUS_CTRL: u32 = 0x054;
pub(super) const TENSIX_CREG_READ: u32 = 0x058;
pub(super) const DBG_RD_DATA: u32 = 0x05C;
pub(super) const DBG_ARRAY_RD_EN: u32 = 0x060;
pub(super) const DBG_ARRAY_RD_CMD: u32 = 0x064;
pub(super) const DBG_ARRAY_RD_DATA: u32 = 0x06C;
pub(super) const TENSIX_CREG_RDDATA: u32 = 0x078;
pub(super) const RISC_DBG_CNTL_0: u32 = 0x080;
pub(super) const RISC_DBG_STATUS_0: u32 = 0x088;
pub(super) const RISC_DBG_STATUS_1: u32 = 0x08C;
pub(super) const PC_BUF_OVERRIDE: u32 = 0x090;
pub(super) const INSTRN_BUF_CTRL0: u32 = 0x0A0;
pub(super) const INSTRN_BUF_CTRL1: u32 = 0x0A4;
pub(super) const INSTRN_BUF_STATUS: u32 = 0x0A8;
pub(super) const PERF_CNT_OUT_FIRST: u32 = 0x100;
pub(super) const PERF_CNT_OUT_LAST: u32 = 0x124;
pub(super) const SOFT_RESET_0: u32 = 0x1B0;
pub(super) const ECC_STATUS: u32 = 0x1D4;
pub(super) const WDT_CNTL: u32 = 0x1E4;
pub(super) const WDT_STATUS: u32 = 0x1E8;
pub(super) const WALL_CLOCK_L: u32 = 0x1F0;
pub(super) const WALL_CLOCK_1: u32 = 0x1F4;
pub(super) const WALL_CLOCK_H: u32 = 0x1F8;
pub(super) const TIMESTAMP_CMD: u32 = 0x1FC;
pub(super) const TIMESTAMP_CNTL: u32 = 0x200;
pub(super) const TIMESTAMP_STATUS: u32 = 0x204;
pub(super) const TIMESTAMP_BUF0_START: u32 = 0x208;
pub(super) const TIMESTAMP_BUF1_END: u32 = 0x214;
pub(super) const DISABLE_RESET: u32 = 0x224;
pub(super) const TRISC0_RESET_PC: u32 = 0x228;
pub(super) const TRISC_RESET_PC_OVERRIDE: u32 = 0x234;
pub(super) const NCRISC_RESET_PC: u32 = 0x238;
pub(super) const NCRISC_RESET_PC_OVERRIDE: u32 = 0x23C;

/// Words from the start of the block to its last named register.
pub(super) const WORDS: usize = 0x24C / 4;

/// Every named register, in offset order.
pub(super) const NAMES: &[(u32, &str)] = &[
    (0x000, "PERF_CNT_INSTRN_THREAD0"),
    (0x004, "PERF_CNT_INSTRN_THREAD1"),
    (0x008, "PERF_CNT_INSTRN_THREAD2"),
    (0x00C, "PERF_CNT_TDMA_UNPACK0"),
    (0x010, "PERF_CNT_TDMA_UNPACK1"),
    (0x014, "PERF_CNT_TDMA_UNPACK2"),
    (0x018, "PERF_CNT_FPU0"),
    (0x01C, "PERF_CNT_FPU1"),
    (0x020, "PERF_CNT_FPU2"),
    (0x030, "PERF_CNT_L1_0"),
    (0x034, "PERF_CNT_L1_1"),
    (0x038, "PERF_CNT_L1_2"),
    (0x03C, "PERF_CNT_ALL"),
    (0x048, "DBG_L1_MEM_REG0"),
    (0x04C, "DBG_L1_MEM_REG1"),
    (0x050, "DBG_L1_MEM_REG2"),
    (DBG_BUS_CTRL, "DBG_BUS_CTRL"),
    (TENSIX_CREG_READ, "TENSIX_CREG_READ"),
    (DBG_RD_DATA, "DBG_RD_DATA"),
    (DBG_ARRAY_RD_EN, "DBG_ARRAY_RD_EN"),
    (DBG_ARRAY_RD_CMD, "DBG_ARRAY_RD_CMD"),
    (0x068, "DBG_FEATURE_DISABLE"),
    (DBG_ARRAY_RD_DATA, "DBG_ARRAY_RD_DATA"),
    (0x070, "CG_CTRL_HYST0"),
    (0x074, "CG_CTRL_HYST1"),
    (TENSIX_CREG_RDDATA, "TENSIX_CREG_RDDATA"),
    (0x07C, "CG_CTRL_HYST2"),
    (RISC_DBG_CNTL_0, "RISC_DBG_CNTL_0"),
    (0x084, "RISC_DBG_CNTL_1"),
    (RISC_DBG_STATUS_0, "RISC_DBG_STATUS_0"),
    (RISC_DBG_STATUS_1, "RISC_DBG_STATUS_1"),
    (PC_BUF_OVERRIDE, "TRISC_PC_BUF_OVERRIDE"),
    (0x094, "DBG_INVALID_INSTRN"),
    (INSTRN_BUF_CTRL0, "DBG_INSTRN_BUF_CTRL0"),
    (INSTRN_BUF_CTRL1, "DBG_INSTRN_BUF_CTRL1"),
    (INSTRN_BUF_STATUS, "DBG_INSTRN_BUF_STATUS"),
    (0x0AC, "STOCH_RND_MASK0"),
    (0x0B0, "STOCH_RND_MASK1"),
    (0x0B4, "FPU_STICKY_BITS"),
    (0x0B8, "ETH_RISC_PREFECTH_CTRL"),
    (0x0BC, "ETH_RISC_PREFECTH_PC"),
    (0x0F0, "PERF_CNT_TDMA_PACK0"),
    (0x0F4, "PERF_CNT_TDMA_PACK1"),
    (0x0F8, "PERF_CNT_TDMA_PACK2"),
    (PERF_CNT_OUT_FIRST, "PERF_CNT_OUT_L_INSTRN_THREAD"),
    (0x104, "PERF_CNT_OUT_H_INSTRN_THREAD"),
    (0x108, "PERF_CNT_OUT_L_TDMA_UNPACK"),
    (0x10C, "PERF_CNT_OUT_H_TDMA_UNPACK"),
    (0x110, "PERF_CNT_OUT_L_TDMA_PACK"),
    (0x114, "PERF_CNT_OUT_H_TDMA_PACK"),
    (0x118, "PERF_CNT_OUT_L_DBG_L1"),
    (0x11C, "PERF_CNT_OUT_H_DBG_L1"),
    (0x120, "PERF_CNT_OUT_L_FPU"),
    (PERF_CNT_OUT_LAST, "PERF_CNT_OUT_H_FPU"),
    (SOFT_RESET_0, "SOFT_RESET_0"),
    (0x1C0, "BREAKPOINT_CTRL"),
    (0x1C4, "BREAKPOINT_STATUS"),
    (0x1C8, "BREAKPOINT_DATA"),
    (0x1D0, "ECC_CTRL"),
    (ECC_STATUS, "ECC_STATUS"),
    (0x1E0, "WATCHDOG_TIMER"),
    (WDT_CNTL, "WDT_CNTL"),
    (WDT_STATUS, "WDT_STATUS"),
    (WALL_CLOCK_L, "WALL_CLOCK_L"),
    (WALL_CLOCK_1, "WALL_CLOCK_1"),
    (WALL_CLOCK_H, "WALL_CLOCK_H"),
    (TIMESTAMP_CMD, "TIMESTAMP_DUMP_CMD"),
    (TIMESTAMP_CNTL, "TIMESTAMP_DUMP_CNTL"),
    (TIMESTAMP_STATUS, "TIMESTAMP_DUMP_STATUS"),
    (TIMESTAMP_BUF0_START, "TIMESTAMP_DUMP_BUF0_START_ADDR"),
    (0x20C, "TIMESTAMP_DUMP_BUF0_END_ADDR"),
    (0x210, "TIMESTAMP_DUMP_BUF1_START_ADDR"),
    (TIMESTAMP_BUF1_END, "TIMESTAMP_DUMP_BUF1_END_ADDR"),
    (0x218, "PERF_CNT_MUX_CTRL"),
    (0x21C, "DBG_L1_READBACK_OFFSET"),
    (0x220, "LFSR_HIT_MASK"),
    (DISABLE_RESET, "DISABLE_RESET"),
    (TRISC0_RESET_PC, "TRISC0_RESET_PC"),
    (0x22C, "TRISC1_RESET_PC"),
    (0x230, "TRISC2_RESET_PC"),
    (TRISC_RESET_PC_OVERRIDE, "TRISC_RESET_PC_OVERRIDE"),
    (NCRISC_RESET_PC, "NCRISC_RESET_PC"),
    (NCRISC_RESET_PC_OVERRIDE, "NCRISC_RESET_PC_OVERRIDE"),
    (0x240, "DEST_CG_CTRL"),
    (0x244, "CG_CTRL_EN"),
    (0x248, "CG_KICK"),
];
