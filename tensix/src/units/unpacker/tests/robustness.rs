//! Nothing a guest configures makes the unpackers panic, and what is undefined is diagnosed.

use isa::config::field;
use proptest::prelude::*;

use super::super::run::Run;
use super::super::settings::Settings;
use super::super::sink::Sink;
use super::{Fixture, TILE, UNPACR_A, UNPACR_B, setc16};
use crate::queue::{Origin, Queued};
use crate::state::src::SrcCells;
use crate::units::Issued;
use sim_core::{CoreId, Cycle, ThreadId};

#[test]
fn undefined_uses_are_diagnosed() {
    let error = |arrange: &dyn Fn(&mut Fixture), word: u32| {
        let mut fixture = Fixture::new();
        fixture.extent(0, 0, 15);
        fixture.extent(1, 0, 15);
        arrange(&mut fixture);
        fixture.error_id(&[word])
    };
    let formats = |f: &mut Fixture| f.formats(0, 5, 1);
    assert_eq!(error(&formats, UNPACR_A), "tensix-unpack-formats");
    assert_eq!(error(&|_| {}, UNPACR_B | 2 << 10), "tensix-unpack-context");
    assert_eq!(error(&|_| {}, UNPACR_A | 3 << 8), "tensix-unpack-adc");
    assert_eq!(error(&|f| f.extent(0, 9, 3), UNPACR_A), "tensix-unpack-count");
    let outside = |f: &mut Fixture| f.set(&field::THCON_SEC0_REG3_Base_address, 0x17FFF);
    assert_eq!(error(&outside, UNPACR_A), "tensix-unpack-address");
    let odd = |f: &mut Fixture| f.set(&field::UNP1_ADDR_BASE_REG_1_Base, 1);
    assert_eq!(error(&odd, UNPACR_B), "tensix-unpack-alignment");
    let far_row = |f: &mut Fixture| {
        f.run(&[setc16(&field::SRCA_SET_SetOvrdWithAddr, 0)]);
        f.extent(0, 0, 16 * 16);
    };
    assert_eq!(error(&far_row, UNPACR_A), "tensix-unpack-row");
    let to_dst = |f: &mut Fixture| f.set(&field::THCON_SEC0_REG2_Unpack_if_sel_cntx0, 1);
    assert_eq!(error(&to_dst, UNPACR_A), "tensix-unpack-override");
    let halo_dst = |f: &mut Fixture| {
        to_dst(f);
        f.set(&field::THCON_SEC0_REG2_Haloize_mode, 1);
    };
    assert_eq!(error(&halo_dst, UNPACR_A), "tensix-unpack-modes");
}

#[test]
fn row_broadcast_writes_eight_rows_of_src_b_and_warns() {
    // [llk: instructions/assembly.yaml] "Will broadcast starting row into adjacent 8 rows on SrcB".
    let mut fixture = Fixture::new();
    fixture.extent(1, 0, 15);
    for word in 0..8 {
        fixture.memory.l1.set_word(TILE + 4 * word, 0x3F80_0000 | word);
    }
    fixture.run(&[UNPACR_B | 1 << 5]);
    let backend = &fixture.tensix.backend;
    let cells = &backend.src[1].cells[0];
    for row in &cells[..8] {
        // Pairs of BF16: the word's number as low half, 1.0 as high half; cells have three bits more.
        let expected = std::array::from_fn(|j| if j % 2 == 0 { j as u32 / 2 } else { 0x3F80 } << 3);
        assert_eq!(row, &expected);
    }
    assert_eq!(cells[8], [0; 16]);
    assert!(fixture.tensix.has_warned(ThreadId::T0, "tensix-unpack-broadcast"));
}

/// A way through the data path.
#[derive(Clone, Copy)]
enum Path {
    /// As the instruction chooses.
    Own,
    Rows,
    Datums,
}

/// One `UNPACR` of thread 0; whether it is not diagnosed.
fn run_into(fixture: &Fixture, word: u32, path: Path, sink: &mut Sink<'_>) -> bool {
    let origin = Origin { core: CoreId::Trisc0, pc: 0 };
    let issued = Issued::new(&Queued::pushed(word, origin), ThreadId::T0, Cycle(0));
    let backend = &fixture.tensix.backend;
    let outcome = Settings::read(&issued, &backend.config, (0, 0)).and_then(|settings| {
        let input = settings.input(&issued, false, &backend.adcs, &fixture.memory)?;
        let position = settings.output(&issued, &backend.adcs)?;
        let run = Run {
            issued: &issued,
            settings: &settings,
            env: &fixture.memory,
            all_zero: false,
            piecemeal: false,
        };
        match path {
            Path::Own => run.go(input, position, sink),
            Path::Rows => run.rows(input, position, sink),
            Path::Datums => run.datums(input, position, sink),
        }
    });
    outcome.is_ok()
}

/// One `UNPACR` by rows or datum by datum, into SrcB; `None` if it is diagnosed.
fn run(fixture: &Fixture, by_rows: bool) -> Option<SrcCells> {
    let mut cells = [[0; 16]; 64];
    let path = if by_rows { Path::Rows } else { Path::Datums };
    let mut sink = Sink::SrcB { cells: &mut cells, row: 3, copies: 1 };
    let is_fine = run_into(fixture, UNPACR_B, path, &mut sink);
    is_fine.then_some(cells)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_configuration_ends_without_a_panic(
        words in prop::collection::vec(any::<u32>(), 96),
        base in 0..0x400_u32,
        counters in prop::collection::vec(0..600_u32, 16),
        instructions in prop::collection::vec((0..2_u32, any::<u32>()), 8),
    ) {
        let mut fixture = Fixture::new();
        for (word, value) in (64..160).zip(words) {
            fixture.word(word, value);
        }
        for unpacker in 0..2 {
            fixture.thcon(unpacker, &field::THCON_SEC0_REG3_Base_address, base);
        }
        for (counter, value) in counters.iter().enumerate() {
            let channel = &mut fixture.tensix.backend.adcs[0].0[counter / 8][counter / 4 % 2];
            let counter = [&mut channel.x, &mut channel.y, &mut channel.z, &mut channel.w];
            for (counter, limit) in counter.into_iter().zip([600, 40, 20, 3]) {
                counter.value = value % limit;
            }
        }
        for (opcode, word) in instructions {
            let _ = fixture.try_run(&[(0x42 + opcode) << 24 | word & 0xFF_FFFF]);
        }
    }

    #[test]
    fn rows_and_datums_are_the_same_path(
        format in prop::sample::select(vec![1_u32, 2, 3, 5, 6, 7, 9, 10, 11, 14, 15]),
        bytes in prop::collection::vec(0..32_u8, 900),
        first in 0..40_u32,
        count in 1..200_u32,
        base in 0..64_u32,
        limit in 0..8_u32,
    ) {
        let mut fixture = Fixture::new();
        fixture.descriptor(1, format, 64, 8);
        fixture.formats(1, format, format);
        fixture.extent(1, first, first + count - 1);
        fixture.set(&field::UNP1_ADDR_BASE_REG_1_Base, base * 2);
        fixture.thcon(1, &field::THCON_SEC0_REG2_Unpack_limit_address, TILE / 16 + limit);
        fixture.thcon(1, &field::THCON_SEC0_REG2_Unpack_fifo_size, 3);
        fixture.bytes(TILE - 64, bytes);
        prop_assert_eq!(run(&fixture, true), run(&fixture, false));
    }

    /// Everything that the straight-line path takes, and some that it must refuse, through it and
    /// through the general ones, rows that are not contiguous too: SrcA, SrcB and both widths of Dst.
    #[test]
    fn whole_rows_and_rows_and_datums_are_the_same_path(
        (input, output) in prop::sample::select(vec![
            (0_u32, 0_u32), (0, 4), (0, 5), (0, 1), (1, 1), (2, 2), (3, 3), (5, 5), (6, 6), (7, 7),
            (8, 8), (9, 9), (10, 10), (11, 11), (14, 14), (15, 15),
        ]),
        target in 0..4_u32,
        bytes in prop::collection::vec(any::<u8>(), 5000),
        (first, count) in prop_oneof![
            (0..4_u32, 1..20_u32).prop_map(|(first, rows)| (16 * first, 16 * rows)),
            (0..40_u32, 1..300_u32),
        ],
        (base, set_row) in (0..40_u32, 0..64_u32),
        limit in prop_oneof![Just(0x1_FFFF_u32), 0..40_u32],
        modes in (0..40_u32, 0..6_u32, 0..6_u32, any::<bool>()),
    ) {
        let mut fixture = Fixture::new();
        let unpacker = u32::from(target == 1);
        fixture.descriptor(unpacker, input, 64, 16);
        fixture.formats(unpacker, input, output);
        fixture.extent(unpacker, first, first + count - 1);
        fixture.set(&field::THCON_SEC0_REG5_Tile_x_dim_cntx0, 64);
        fixture.set(&field::THCON_SEC0_REG5_Dest_cntx0_address, if base < 32 { 16 * base } else { base });
        fixture.set(&field::UNP1_ADDR_BASE_REG_1_Base, 128 * base);
        fixture.set(&field::THCON_SEC0_REG2_Unpack_if_sel_cntx0, u32::from(target >= 2));
        fixture.thcon(unpacker, &field::THCON_SEC0_REG2_Unpack_limit_address, if limit > 40 { limit } else { TILE / 16 + limit });
        fixture.thcon(unpacker, &field::THCON_SEC0_REG2_Unpack_fifo_size, 3 * (limit % 2));
        let (exponent, shift, haloize, tileize) = modes;
        fixture.thcon(unpacker, &field::THCON_SEC0_REG2_Force_shared_exp, u32::from(exponent > 31));
        fixture.thcon(unpacker, &field::THCON_SEC0_REG2_Tileize_mode, u32::from(tileize && shift == 0));
        // Where tiles are made, a row begins so many 16 bytes behind the one before.
        fixture.thcon(unpacker, &field::THCON_SEC0_REG2_Shift_amount_cntx0, base % 16);
        fixture.thcon(unpacker, &field::THCON_SEC0_REG2_Haloize_mode, u32::from(haloize == 0));
        let five_bit_exponents = matches!(input, 2 | 3 | 11);
        let mask = if five_bit_exponents { 0x1F } else { 0xFF };
        fixture.bytes(TILE - 64, bytes.into_iter().map(|byte| byte & mask));
        let word = [UNPACR_A, UNPACR_B, UNPACR_A, UNPACR_A][target as usize];
        let results = [Path::Own, Path::Rows, Path::Datums].map(|path| {
            let mut cells = Box::new([[7; 16]; 64]);
            let mut dst = crate::state::dst::Dst::default();
            let map = crate::state::dst::DstMap { remap: base % 2 == 0, swizzle: base % 3 == 0 };
            let shape = super::super::sink::SrcAShape {
                set_row: (set_row > 31).then_some(set_row),
                column_shift: if shift == 1 { 3 } else { 0 },
                transpose: haloize == 0,
            };
            let mut sink = match target {
                0 => Sink::SrcA { cells: &mut cells, shape },
                1 => Sink::SrcB { cells: &mut cells, row: set_row, copies: 1 },
                target => Sink::Dst { dst: &mut dst, map, wide: target == 2 },
            };
            let is_fine = run_into(&fixture, word, path, &mut sink);
            (is_fine, cells, dst)
        });
        let [own, rows, datums] = results;
        prop_assert!(own == rows);
        // Where something is diagnosed, less of a row has been written.
        prop_assert!(own.0 == datums.0 && (!own.0 || own == datums));
    }
}
