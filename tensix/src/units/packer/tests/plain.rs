//! The common case against the general path: the same output and the same state.

use isa::config::field;
use proptest::prelude::*;
use sim_core::StateHasher;

use super::tests::Setup;
use crate::state::adc::PACKERS;
use crate::state::dst::DST_ROWS;

/// Everything that two instructions can leave behind.
fn outcome(
    setup: &Setup,
    results: Vec<Option<&'static str>>,
) -> (Vec<Option<&'static str>>, u64, Vec<u8>) {
    let mut hasher = StateHasher::default();
    setup.packer.hash_state(&mut hasher);
    for adcs in &setup.adcs {
        adcs.hash_state(&mut hasher);
    }
    let mut l1 = vec![0; 0x800];
    setup.tile.l1.read_bytes(0xF00, &mut l1);
    (results, hasher.finish(), l1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn planned_and_general_instructions_do_the_same(
        (wide, formats) in (any::<bool>(), (0..16_u8, 0..16_u8)),
        common in prop::sample::select(vec![
            (false, 5, 5), (true, 0, 0), (false, 5, 6), (true, 0, 1), (true, 5, 5), (false, 1, 1),
            (true, 0, 5), (true, 0, 6), (false, 6, 7), (true, 8, 8), (false, 1, 10), (true, 14, 14),
        ]),
        any_formats in prop::bool::weighted(0.3),
        cells in prop::collection::vec(any::<u16>(), 32 * 16),
        invalid in any::<u16>(),
        words in prop::collection::vec((any::<u32>(), 0..8_u32), 1..5),
        relu in (0..8_u32, 0..0x8000_u32),
        modes in (0..8_u32, any::<u32>(), any::<u32>()),
        last_column in prop_oneof![4 => Just(15_u32), 1 => 0..16_u32],
        stride in prop::sample::select(vec![32_u32, 64, 16, 0]),
        (accumulates, before) in (prop::bool::weighted(0.3), prop::collection::vec(any::<u8>(), 0x800)),
    ) {
        let (wide, (input, output)) = if any_formats {
            (wide, formats)
        } else {
            (common.0, (common.1, common.2))
        };
        let outcomes = [false, true].map(|general| {
            let mut setup = Setup::new(input, output);
            setup.set(&field::PCK_DEST_RD_CTRL_Read_32b_data, u32::from(wide));
            setup.set(&field::PCK_DEST_RD_CTRL_Round_10b_mant, u32::from(modes.0 == 1 || common.2 == 1));
            setup.set(&field::PCK_DEST_RD_CTRL_Read_int8, u32::from(modes.0 == 2));
            setup.set(&field::PCK0_ADDR_CTRL_XY_REG_0_Ystride, stride);
            setup.set(&field::STACC_RELU_ApplyRelu, if relu.0 < 4 { relu.0 } else { 0 });
            setup.set(&field::STACC_RELU_ReluThreshold, relu.1);
            setup.set(&field::THCON_SEC0_REG1_Exp_section_size, 4);
            setup.set(&field::THCON_SEC0_REG1_Pack_L1_Acc, u32::from(accumulates));
            setup.set(&field::PACK_COUNTERS_SEC0_pack_reads_per_xy_plane, 4);
            if modes.0 == 3 {
                setup.set(&field::PCK_EDGE_OFFSET_SEC0_mask, modes.1 & 0xFFFF);
                setup.set(&field::TILE_ROW_SET_MAPPING_0_row_set_mapping_0, modes.2 & 3);
                setup.set(&field::PCK_EDGE_MODE_mode, modes.2 >> 2 & 1);
            }
            if modes.0 == 4 {
                setup.set(&field::THCON_SEC0_REG1_Downsample_mask, modes.1 & 0xFFFF);
            }
            setup.tile.l1.write_bytes(0xF00, &before);
            for (index, &cell) in cells.iter().enumerate() {
                setup.dst.cells[index / 16][index % 16] = cell;
            }
            for row in 0..16_u32 {
                if invalid >> row & 1 != 0 {
                    setup.dst.invalidate(2 * row % DST_ROWS as u32);
                }
            }
            setup.adcs[2].0[PACKERS][1].x.value = last_column;
            let mut results = Vec::new();
            for (word, kind) in &words {
                // Mostly plain instructions, with and without Last; else any fields at all.
                let fields = match kind {
                    0..4 => word & 0xF01,
                    4 | 5 => word & 0x3_FF11,
                    _ => word & 0xFF_FFFF,
                };
                let issued = Setup::issue(0x41 << 24 | fields);
                let Setup { packer, config, adcs, dst, tile } = &mut setup;
                let result = if general {
                    packer.pacr_general(&issued, config, adcs, dst, tile)
                } else {
                    packer.pacr(&issued, config, adcs, dst, tile)
                };
                results.push(result.err().map(|fault| fault.id));
            }
            outcome(&setup, results)
        });
        prop_assert!(outcomes[0] == outcomes[1], "they differ");
    }
}
