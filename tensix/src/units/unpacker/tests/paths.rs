//! Whole `UNPACR` instructions: addresses, modes, counters.

use isa::config::field;
use sim_core::ThreadId;

use super::{
    ALL_ZERO, FLIP, Fixture, ROW_SEARCH, TILE, UNPACR_A, UNPACR_B, USE_COUNTER, bf16_cells, setc16,
};
use crate::state::adc::Dimension;

/// Half-words that differ: 0x4000, 0x4001, ...
fn ramp(first: u16) -> impl Iterator<Item = u16> {
    (0..1024).map(move |index| 0x4000 + first + index)
}

fn ramp_row(first: u16) -> [u32; 16] {
    bf16_cells(std::array::from_fn(|column| 0x4000 + first + column as u16))
}

#[test]
fn unpacr_moves_a_face_and_records_its_format() {
    let mut fixture = Fixture::new();
    fixture.halves(ramp(0));
    fixture.extent(0, 0, 255);
    fixture.run(&[UNPACR_A | FLIP]);
    let bank = fixture.bank(0, 0);
    for row in 0..16 {
        assert_eq!(bank[usize::from(row)], ramp_row(row * 16), "row {row}");
    }
    assert_eq!(bank[16], [0; 16]);
    assert_eq!(fixture.tensix.backend.src[0].implied_format[0], 5);
}

#[test]
fn unpacr_takes_part_of_a_row_to_any_column() {
    let mut fixture = Fixture::new();
    fixture.halves(ramp(0));
    fixture.extent(1, 3, 22);
    fixture.set(&field::UNP1_ADDR_BASE_REG_1_Base, 2 * (16 + 5));
    fixture.run(&[UNPACR_B]);
    let bank = fixture.bank(1, 0);
    let flat: Vec<u32> = bank.iter().flatten().copied().collect();
    let expected: Vec<u32> = (3..=22_u32).map(|index| (0x4000 + index) << 3).collect();
    assert_eq!(flat[21..41], expected);
    assert!(flat[..21].iter().chain(&flat[41..]).all(|&cell| cell == 0));
}

#[test]
fn rows_beyond_the_last_of_src_a_wrap() {
    // Row 62 and the three after it.
    let mut fixture = Fixture::new();
    fixture.halves(ramp(0));
    fixture.extent(0, 0, 63);
    fixture.set(&field::THCON_SEC0_REG5_Dest_cntx0_address, 16 * (62 + 4));
    fixture.run(&[UNPACR_A]);
    let bank = fixture.bank(0, 0);
    for (row, first) in [(62, 0), (63, 16), (0, 32), (1, 48)] {
        assert_eq!(bank[row][0], (0x4000 + first) << 3, "row {row}");
    }
}

#[test]
fn counters_address_input_and_output() {
    // Input ((W * ZDim + Z) * YDim + Y) * XDim + X; output base + Y, Z, W times strides.
    let mut fixture = Fixture::new();
    fixture.descriptor(1, 5, 8, 4);
    fixture.word(64 + 48 + 1, 3 << 16 | 4);
    fixture.halves(ramp(0));
    fixture.extent(1, 2, 7);
    let adc = &mut fixture.tensix.backend.adcs[0].0[1];
    (adc[0].w.value, adc[0].z.value, adc[0].y.value) = (1, 2, 3);
    (adc[1].w.value, adc[1].z.value, adc[1].y.value) = (1, 1, 2);
    fixture.set(&field::UNP1_ADDR_CTRL_XY_REG_1_Ystride, 32);
    fixture.set(&field::UNP1_ADDR_CTRL_ZW_REG_1_Zstride, 64);
    fixture.set(&field::UNP1_ADDR_CTRL_ZW_REG_1_Wstride, 128);
    // Z of channel 0 += 3, Y += 2; Z of channel 1 += 1, Y += 1.
    fixture.run(&[UNPACR_B | 3 << 15 | 2 << 17 | 1 << 19 | 1 << 21]);
    let first = ((3 + 2) * 4 + 3) * 8 + 2;
    let row = fixture.bank(1, 0)[2 + 2 + 4];
    assert_eq!(row[..6], ramp_row(first)[..6]);
    assert_eq!(row[6..], [0; 10]);
    let adc = &fixture.tensix.backend.adcs[0].0[1];
    assert_eq!((adc[0].z.value, adc[0].y.value), (5, 5));
    assert_eq!((adc[1].z.value, adc[1].y.value), (2, 3));
}

#[test]
fn z_counts_thirteen_bits_of_which_the_input_sees_eight() {
    // [isa-wh: ADCs.md]: 13 bits on Blackhole; channel 1 addresses Dst with all of them.
    let mut fixture = Fixture::new();
    fixture.descriptor(0, 5, 16, 1);
    fixture.word(65, 60 << 16 | 1);
    fixture.halves(ramp(0));
    fixture.extent(0, 0, 15);
    fixture.set(&field::THCON_SEC0_REG2_Unpack_if_sel_cntx0, 1);
    fixture.set(&field::UNP0_ADDR_CTRL_ZW_REG_1_Zstride, 32);
    fixture.run(&[0xB205_0000]);
    let adc = &mut fixture.tensix.backend.adcs[0].0[0];
    adc[0].set(Dimension::Z, 256 + 44);
    adc[1].set(Dimension::Z, 300);
    // Channel 1 stays, then goes on.
    fixture.run(&[UNPACR_A, UNPACR_A, UNPACR_A | 1 << 19, UNPACR_A | 1 << 15]);
    let dst = &fixture.tensix.backend.matrix.dst;
    let row: [u16; 16] = std::array::from_fn(|column| {
        let value = 0x4000 + 44 * 16 + column as u16;
        value & 0x8000 | (value & 0x7F) << 8 | value >> 7 & 0xFF
    });
    assert_eq!((dst.cells[300], dst.cells[301], dst.cells[302]), (row, row, [0; 16]));
    assert_eq!((dst.cells[44], dst.cells[45]), ([0; 16], [0; 16]));
    let adc = &fixture.tensix.backend.adcs[0].0[0];
    assert_eq!((adc[0].z.value, adc[1].z.value), (301, 301));
}

#[test]
fn header_digest_moves_the_data() {
    let mut fixture = Fixture::new();
    fixture.word(67, 2 << 24);
    fixture.halves(ramp(0));
    fixture.extent(0, 0, 15);
    fixture.run(&[UNPACR_A]);
    assert_eq!(fixture.bank(0, 0)[0], ramp_row(16));
}

#[test]
fn exponents_come_from_their_section_or_the_register() {
    // 20 datums of 64 that begin at datum 8: two shared exponents, 64 datums take 16 bytes.
    let mut fixture = Fixture::new();
    fixture.descriptor(1, 6, 64, 1);
    fixture.formats(1, 6, 6);
    fixture.extent(1, 8, 27);
    fixture.bytes(TILE, [130, 140, 150, 160]);
    fixture.bytes(TILE + 16, [0x40; 64]);
    fixture.run(&[UNPACR_B]);
    let bank = fixture.bank(1, 0);
    assert_eq!(
        bank[0],
        std::array::from_fn(|column| if column < 8 { 130 << 10 } else { 140 << 10 })
    );
    assert_eq!(bank[1][..4], [140 << 10; 4]);

    fixture.thcon(1, &field::THCON_SEC0_REG2_Force_shared_exp, 1);
    fixture.set(&field::UNP1_FORCED_SHARED_EXP_shared_exp, 99);
    fixture.bytes(TILE, [0x40; 16]);
    fixture.run(&[UNPACR_B]);
    assert_eq!(fixture.bank(1, 0)[0], [99 << 10; 16]);
}

#[test]
fn no_exponent_section_leaves_bfp4_data_at_the_start() {
    // The descriptor bit concerns BFP4 and BFP2 only; with a forced exponent nothing is skipped.
    for (format, bit, skipped) in [(6, 1, 16), (7, 0, 16), (7, 1, 0)] {
        let mut fixture = Fixture::new();
        fixture.descriptor(1, format, 16, 1);
        fixture.formats(1, format, format);
        let word = fixture.config[&112];
        fixture.word(112, word | bit << 5);
        fixture.extent(1, 0, 0);
        fixture.bytes(TILE, [100]);
        fixture.bytes(TILE + 16, [0x42]);
        fixture.run(&[UNPACR_B]);
        // The first byte of the section is the exponent in any case, and the datum's place varies:
        // 0x42 is 1.03125 as BFP8 and 0.5 in its low nibble; 100 is 0x64, 1.0 in its low nibble.
        let expected = match (format, skipped) {
            (6, _) => 100 << 10 | 0x4 << 3,
            (_, 16) => 99 << 10,
            _ => 100 << 10,
        };
        assert_eq!(fixture.bank(1, 0)[0][0], expected, "format {format}, bit {bit}");
    }
}

#[test]
fn transposition_exchanges_row_and_column_of_a_face() {
    let mut fixture = Fixture::new();
    fixture.set(&field::THCON_SEC0_REG2_Haloize_mode, 1);
    fixture.halves(ramp(0));
    fixture.extent(0, 0, 511);
    fixture.run(&[UNPACR_A]);
    let bank = fixture.bank(0, 0);
    for (row, column) in [(0, 0), (3, 9), (15, 1), (16, 7), (31, 15)] {
        let (face, in_face) = (row / 16, row % 16);
        let source = face * 256 + column * 16 + in_face;
        assert_eq!(bank[row][column], (0x4000 + source as u32) << 3, "{row} {column}");
    }
}

#[test]
fn column_shift_moves_left_and_drops() {
    let mut fixture = Fixture::new();
    fixture.set(&field::THCON_SEC0_REG2_Shift_amount_cntx0, 5);
    fixture.halves(ramp(0));
    fixture.extent(0, 0, 31);
    fixture.run(&[UNPACR_A]);
    for (row, first) in [(0, 5), (1, 21)] {
        let cells = fixture.bank(0, 0)[row];
        assert_eq!(cells[..11], ramp_row(first)[..11]);
        assert_eq!(cells[11..], [0; 5]);
    }
}

#[test]
fn src_row_advances_and_returns_at_the_hand_over() {
    let mut fixture = Fixture::new();
    fixture.halves(ramp(0));
    fixture.extent(0, 0, 15);
    fixture.set(&field::THCON_SEC0_REG2_Unpack_Src_Reg_Set_Upd, 1);
    fixture.run(&[0xB205_0000, UNPACR_A, UNPACR_A, 0xB205_0001, UNPACR_A, UNPACR_A | FLIP]);
    let filled: Vec<usize> =
        (0..64).filter(|&row| fixture.bank(0, 0)[row] == ramp_row(0)).collect();
    // Rows 0, 16, 32; then 16 + 16 more with a base of 16, which is row 0 again.
    assert_eq!(filled, [0, 16, 32]);
    assert_eq!(fixture.tensix.backend.unpackers.units[0].src_row[0], 16);
}

#[test]
fn upsampling_inserts_zeroes_or_leaves_gaps() {
    // Rate 1 is one extra position, rate 2 is three (1 << rate, less one).
    for (rate, interleave) in [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1)] {
        let mut fixture = Fixture::new();
        fixture.halves(ramp(0));
        fixture.tensix.backend.src[0].cells[0] = [[7; 16]; 64];
        fixture.extent(0, 0, 19);
        fixture.set(&field::THCON_SEC0_REG2_Upsample_rate, rate);
        fixture.set(&field::THCON_SEC0_REG2_Upsample_and_interleave, interleave);
        fixture.run(&[UNPACR_A]);
        let flat: Vec<u32> = fixture.bank(0, 0).iter().flatten().copied().collect();
        let step = 1 << rate;
        for (position, &cell) in flat.iter().enumerate() {
            let inside = position < 20 * step;
            let expected = match (inside, position % step) {
                (true, 0) => (0x4000 + (position / step) as u32) << 3,
                (true, _) if interleave == 0 => 0,
                _ => 7,
            };
            assert_eq!(cell, expected, "rate {rate}, position {position}");
        }
    }
}

#[test]
fn all_zero_ignores_l1() {
    let mut fixture = Fixture::new();
    fixture.halves(ramp(0));
    fixture.tensix.backend.src[0].cells[0] = [[7; 16]; 64];
    fixture.extent(0, 0, 31);
    fixture.run(&[UNPACR_A | ALL_ZERO]);
    assert_eq!(fixture.bank(0, 0)[..3], [[0; 16], [0; 16], [7; 16]]);
}

#[test]
fn fifo_brings_addresses_beyond_the_limit_back() {
    // Two rows of 32 bytes fit up to the limit; the third begins beyond it and comes back.
    let mut fixture = Fixture::new();
    fixture.set(&field::THCON_SEC0_REG2_Unpack_limit_address, (TILE + 48) / 16);
    fixture.set(&field::THCON_SEC0_REG2_Unpack_fifo_size, 4);
    fixture.halves(ramp(0));
    fixture.extent(0, 0, 47);
    fixture.run(&[UNPACR_A]);
    assert_eq!(fixture.bank(0, 0)[..3], [ramp_row(0), ramp_row(16), ramp_row(0)]);
}

#[test]
fn contexts_have_bases_offsets_and_formats_of_their_own() {
    let mut fixture = Fixture::new();
    fixture.set(&field::THCON_SEC0_REG2_Ovrd_data_format, 1);
    fixture.set(&field::THCON_SEC0_REG2_Disable_zero_compress_cntx5, 1);
    fixture.set(&field::THCON_SEC0_REG4_Base_cntx5_address, TILE / 16 - 3);
    fixture.set(&field::THCON_SEC0_REG7_Offset_cntx1_address, 2);
    fixture.set(&field::THCON_SEC0_REG7_Unpack_data_format_cntx5, 1);
    fixture.set(&field::THCON_SEC0_REG7_Unpack_out_data_format_cntx5, 1);
    fixture.set(&field::THCON_SEC0_REG5_Dest_cntx1_address, 64 + 16);
    fixture.set(&field::THCON_SEC0_REG5_Tile_x_dim_cntx1, 16);
    fixture.halves([0xBC00; 16]);
    fixture.extent(0, 0, 15);
    // Context 4 from the instruction, 1 from thread configuration.
    fixture.run(&[setc16(&field::UNPACK_MISC_CFG_CfgContextOffset_0, 1), UNPACR_A | 4 << 10]);
    assert_eq!(fixture.bank(0, 0)[1], [0x4_3C00; 16]);
}

#[test]
fn context_counter_counts_wraps_and_obeys_its_register() {
    let counter = |fixture: &Fixture| fixture.tensix.backend.unpackers.units[0].context_counter[0];
    let only_count = 0x4200_2000;
    let mut fixture = Fixture::new();
    fixture.set(&field::THCON_SEC0_REG2_Context_count, 2);
    fixture.set(&field::THCON_SEC0_REG2_Disable_zero_compress_cntx1, 1);
    fixture.extent(0, 0, 15);
    fixture.set(&field::THCON_SEC0_REG5_Dest_cntx1_address, 64);
    let mut seen = Vec::new();
    for word in [only_count, UNPACR_A | USE_COUNTER, only_count, only_count] {
        fixture.run(&[word]);
        seen.push(counter(&fixture));
    }
    assert_eq!(seen, [1, 2, 3, 0]);
    let increment = setc16(&field::UNPACK_MISC_CFG_CfgContextCntInc_0, 1);
    let reset = setc16(&field::UNPACK_MISC_CFG_CfgContextCntReset_0, 1);
    fixture.run(&[increment, increment]);
    assert_eq!(counter(&fixture), 2);
    fixture.run(&[reset]);
    assert_eq!(counter(&fixture), 0);
    // [llk: thcon.h]: a count that is no power of two.
    fixture.set(&field::THCON_SEC0_REG2_Context_count_non_log2, 3);
    fixture.set(&field::THCON_SEC0_REG2_Context_count_non_log2_en, 1);
    fixture.run(&[only_count, only_count, only_count]);
    assert_eq!(counter(&fixture), 0);
}

#[test]
fn blobs_choose_part_of_a_plane() {
    // [isa-wh: UNPACR_Regular.md]: blob Y from its start; to the next of X, or the plane's end.
    let mut fixture = Fixture::new();
    let word = fixture.config[&64];
    fixture.word(64, word | 2 << 8);
    fixture.set(&field::THCON_SEC0_REG5_Tile_x_dim_cntx0, 64);
    fixture.set(&field::UNP0_BLOBS_Y_START_CNTX_01_blobs_y_start, 0x31);
    fixture.halves(ramp(0));
    for (blob, rows) in [(0, &[16, 32][..]), (1, &[48])] {
        let adc = &mut fixture.tensix.backend.adcs[0].0[0];
        (adc[0].x.value, adc[0].y.value) = (blob, blob);
        fixture.tensix.backend.src[0].cells[0] = [[0; 16]; 64];
        fixture.run(&[UNPACR_A | ROW_SEARCH]);
        for (row, &first) in rows.iter().enumerate() {
            assert_eq!(fixture.bank(0, 0)[row], ramp_row(first), "blob {blob}");
        }
        assert_eq!(fixture.bank(0, 0)[rows.len()], [0; 16]);
    }
}

#[test]
fn dst_gets_halves_or_words_after_the_header_rows() {
    let mut fixture = Fixture::new();
    fixture.set(&field::THCON_SEC0_REG2_Unpack_if_sel_cntx0, 1);
    fixture.set(&field::THCON_SEC0_REG5_Dest_cntx0_address, 64 + 16 * 20);
    fixture.run(&[0xB205_0000]);
    fixture.halves([0x3F81; 32]);
    fixture.extent(0, 0, 15);
    fixture.run(&[UNPACR_A]);
    // [isa-bh: Dst.md]: sign, mantissa, exponent.
    assert_eq!(fixture.tensix.backend.matrix.dst.cells[20], [0x017F; 16]);
    fixture.formats(0, 8, 8);
    fixture.run(&[UNPACR_A]);
    // Row 20 of 32 bits: high half in physical row 36, low half eight rows further.
    let dst = &fixture.tensix.backend.matrix.dst;
    assert_eq!((dst.cells[36], dst.cells[44]), ([0x017F; 16], [0x3F81; 16]));
}

#[test]
fn semaphore_protocol_hands_dst_to_the_math_thread() {
    // SEMWAIT while at maximum, unpack, SEMPOST; the math thread gets it back.
    let mut fixture = Fixture::new();
    fixture.set(&field::THCON_SEC0_REG2_Unpack_if_sel_cntx0, 1);
    fixture.run(&[0xB205_0000]);
    fixture.extent(0, 0, 15);
    let wait = isa::encode::semwait(2, 1 << 2, 1 << 3);
    let tile = [wait, UNPACR_A, isa::encode::sempost(1 << 2)];
    fixture.run(&[isa::encode::seminit(1 << 2, 0, 1)]);
    fixture.run(&tile);
    fixture.run(&tile);
    assert!(fixture.tensix.wait_state(ThreadId::T0).is_some(), "Dst is still occupied");
    fixture.try_run_on(ThreadId::T1, &[isa::encode::semget(1 << 2)]).expect("modelled");
    assert!(fixture.tensix.wait_state(ThreadId::T0).is_none());
    assert_eq!(fixture.tensix.read_semaphore(2), 1);
}

/// A compressed tile as `[isa-wh: Packers/Compression.md]` describes it: row starts, then datums
/// and run lengths of zeroes by groups of 32. First and last datum of a row stay.
fn compress(rows: &[Vec<u16>]) -> (Vec<u16>, Vec<(u16, u8)>) {
    let mut starts = vec![0];
    let mut stream: Vec<(u16, u8)> = Vec::new();
    for row in rows {
        for (column, &datum) in row.iter().enumerate() {
            let inner = column != 0 && column + 1 != row.len();
            match stream.last_mut() {
                Some((_, zeroes)) if datum == 0 && inner && *zeroes < 15 => *zeroes += 1,
                _ => stream.push((datum, 0)),
            }
        }
        starts.push(stream.len() as u16);
    }
    (starts, stream)
}

#[test]
fn compressed_rows_come_back_whole_or_in_part() {
    let rows: Vec<Vec<u16>> = (0..12_u16)
        .map(|row| {
            (0..16_u16)
                .map(|column| {
                    if (row + column) % 5 < 3 || row == 7 { 0 } else { 0x4000 + row * 16 + column }
                })
                .collect()
        })
        .collect();
    let (starts, stream) = compress(&rows);
    let mut fixture = Fixture::new();
    fixture.descriptor(1, 5, 16, 12);
    fixture.thcon(1, &field::THCON_SEC0_REG2_Disable_zero_compress_cntx0, 0);
    // Thirteen row starts take 32 bytes.
    fixture.halves(starts);
    for (group, datums) in stream.chunks(32).enumerate() {
        let at = TILE + 32 + group as u32 * 80;
        fixture.bytes(at, datums.iter().flat_map(|datum| datum.0.to_le_bytes()));
        let nibble = |index: usize| datums.get(index).map_or(0, |datum| datum.1);
        fixture.bytes(at + 64, (0..16).map(|byte| nibble(2 * byte) | nibble(2 * byte + 1) << 4));
    }
    for (row, expected) in rows.iter().enumerate() {
        for (first, last) in [(0, 15), (3, 12), (5, 5)] {
            fixture.extent(1, first, last);
            fixture.tensix.backend.adcs[0].0[1][0].y.value = row as u32;
            fixture.tensix.backend.src[1].cells[0] = [[7; 16]; 64];
            fixture.run(&[UNPACR_B]);
            let cells = fixture.bank(1, 0)[0];
            let count = (last - first + 1) as usize;
            let want: Vec<u32> =
                expected[first as usize..].iter().map(|&datum| u32::from(datum) << 3).collect();
            assert_eq!(cells[..count], want[..count], "row {row} from {first} to {last}");
            assert!(cells[count..].iter().all(|&cell| cell == 7));
        }
    }
}
