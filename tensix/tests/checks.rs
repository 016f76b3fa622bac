//! Every check of the catalogue is raised by something that a core can do, with the catalogue's id
//! and category; lowered, it becomes one warning and the coprocessor goes on.

use isa::config::{ConfigField, Scope, field};
use isa::encode;
use isa::op::Opcode;
use sim_core::observer::Stamp;
use sim_core::{Context, CoreId, Cycle, GuestError, ThreadId, Width};
use tensix::checks::CHECKS;
use tensix::{Check, DoorError, Origin, RegisterValue, TdmaCommand, TimingModel, Warned};

mod common;
use common::Bench;

const T0: ThreadId = ThreadId::T0;
/// Words of `ThreadConfig` begin here in the window that cores store to.
const THREAD_WINDOW: u32 = 3 * isa::config::CONFIG_WORDS;

type Outcome = Result<(), GuestError>;

/// Runs `opcode` with those operand bits.
fn run(bench: &mut Bench, opcode: Opcode, bits: u32) -> Outcome {
    bench.run(&[(opcode as u32) << 24 | bits])
}

/// Sets fields of configuration, as a core (or SETC16) would.
fn set(bench: &mut Bench, fields: &[(ConfigField, u32)]) -> Outcome {
    let at = bench.stamp();
    let mut words = std::collections::BTreeMap::new();
    for (field, value) in fields {
        let word: &mut u32 = words.entry((field.scope, field.addr32)).or_default();
        *word = field.insert(*word, *value);
    }
    for ((scope, index), word) in words {
        if scope == Scope::Thread {
            bench.run(&[encode::setc16(word, index)])?;
        } else {
            bench.tensix.write_config(index, word, at, &mut bench.env).expect("a word");
        }
    }
    Ok(())
}

fn gpr(bench: &mut Bench, index: u32, value: u32) {
    bench.tensix.write_gpr(T0, index, value);
}

/// A core's access that a front door answers.
fn door<T: std::fmt::Debug>(bench: &mut Bench, passed: Result<T, DoorError>) -> Outcome {
    let (at, error) = (bench.stamp(), passed.expect_err("refused"));
    let Stamp { cycle, agent, pc } = at;
    let context = Context { cycle, agent, pc: Some(pc), word: None };
    bench.tensix.door_refused(error, at).map_err(|error| error.into_guest_error(context))
}

fn tdma(bench: &mut Bench, word: u32, parameters: [u32; 4]) -> Outcome {
    let at = bench.stamp();
    bench.tensix.push_tdma(TdmaCommand { word, parameters, base: 0 }, at)
}

/// UNPACR of `bits` with both formats BF16, in rows of 16 datums, and `fields` on top.
fn unpack(bench: &mut Bench, bits: u32, fields: &[(ConfigField, u32)]) -> Outcome {
    set(bench, fields)?;
    run(bench, Opcode::Unpacr, bits)
}

const BF16_TILE: (ConfigField, u32) = (field::THCON_SEC0_REG0_TileDescriptor, 5 | 1 << 4);
const BF16_OUT: (ConfigField, u32) = (field::THCON_SEC0_REG2_Out_data_format, 5);

/// PACR of `bits` with 16 datums of BF16 per row, and `fields` on top.
fn pack(bench: &mut Bench, bits: u32, fields: &[(ConfigField, u32)]) -> Outcome {
    let formats = [
        (field::ALU_FORMAT_SPEC_REG2_Dstacc, 5),
        (field::THCON_SEC0_REG1_In_data_format, 5),
        (field::THCON_SEC0_REG1_Out_data_format, 5),
    ];
    bench.run(&[encode::setadcxx(0, 15, 4)])?;
    set(bench, &[&formats, fields].concat())?;
    run(bench, Opcode::Pacr, bits)
}

fn mop(bench: &mut Bench, outer: u32, inner: u32, end: u32, bits: u32) -> Outcome {
    let words = [outer, inner, encode::nop(), end];
    for (index, word) in (0..).zip(words.into_iter().chain([encode::nop(); 5])) {
        bench.tensix.write_mop_config(T0, index, word).expect("a word");
    }
    run(bench, Opcode::Mop, 1 << 23 | bits)
}

/// Does what `check` refuses.
fn raise(bench: &mut Bench, check: Check) -> Outcome {
    match check {
        Check::PushOverflow => {
            let origin = Origin { core: CoreId::Trisc0, pc: 0x6000 };
            let push = |bench: &mut Bench| {
                let (word, now) = (encode::dmanop(), Cycle(bench.now));
                bench.tensix.push(T0, false, word, origin, now, &mut bench.env)
            };
            (0..40).try_for_each(|_| push(bench))
        }
        Check::PushCollision => {
            bench.push(T0, encode::dmanop())?;
            bench.push_brisc(T0, encode::nop())
        }
        Check::MopCountOverride => mop(bench, 1, 1, encode::nop(), 5),
        Check::MopOuterBug => mop(bench, 1, 0, encode::dmanop(), 0),
        Check::MopAfterExpander => {
            bench.push_brisc(T0, encode::mop_cfg(0))?;
            bench.settle(10)
        }
        Check::ReplayCount => {
            let mut words = vec![encode::replay(1, 0, 32, 0)];
            words.extend([encode::nop(); 32]);
            words.push(encode::replay(0, 0, 40, 0));
            bench.run(&words)
        }
        Check::ReplayNested => bench.run(&[
            encode::replay(1, 0, 1, 0),
            encode::replay(0, 0, 1, 4),
            encode::replay(0, 0, 1, 0),
        ]),
        Check::UnassignedOpcode => bench.run(&[0xFE00_0000]),
        Check::Reserved => run(bench, Opcode::Tbufcmd, 0),
        Check::SemwaitCondition => bench.run(&[encode::semwait(0, 1, 1)]),
        Check::Setc16Index => bench.run(&[encode::setc16(1, 68)]),
        Check::ConfigIndex => run(bench, Opcode::Wrcfg, 0x7FF),
        Check::Reg2flopTarget => run(bench, Opcode::Reg2flop, 1 << 22 | 1 << 16),
        Check::ScalarMode => run(bench, Opcode::Shiftdmareg, 7 << 18),
        Check::L1Address => {
            gpr(bench, 1, 0x2_0000);
            run(bench, Opcode::Atincget, 2 << 6 | 1)
        }
        Check::RegisterAddress => run(bench, Opcode::Loadreg, 2 << 18),
        Check::AtomicTarget => run(bench, Opcode::Atincget, 1 << 23 | 2 << 6 | 1),
        Check::StoreindRow => {
            gpr(bench, 1, 0x1_0000);
            run(bench, Opcode::Storeind, 1 << 21 | 2 << 6 | 1)
        }
        Check::MoverAddress => {
            set(
                bench,
                &[
                    (field::THCON_SEC0_REG6_Buffer_size, 1),
                    (field::THCON_SEC0_REG6_Destination_address, 0x1_8000),
                ],
            )?;
            run(bench, Opcode::Xmov, 0)
        }
        Check::MoverIram => {
            set(
                bench,
                &[
                    (field::THCON_SEC0_REG6_Buffer_size, 1),
                    (field::THCON_SEC0_REG6_Destination_address, 0x4000),
                    (field::THCON_SEC0_REG6_Transfer_direction, 1),
                ],
            )?;
            run(bench, Opcode::Xmov, 0)
        }
        Check::TdmaCommand => {
            tdma(bench, 0x8000_0000 | 0x3F, [0; 4])?;
            bench.settle(10)
        }
        Check::TdmaL1Write => {
            tdma(bench, 0x66, [0x18_0000, 0, 1, 2])?;
            bench.settle(10)
        }
        Check::TdmaQueueOverflow => (0..20).try_for_each(|_| tdma(bench, 0x8000_0089, [0; 4])),
        Check::TdmaParameters => (0..3).try_for_each(|_| tdma(bench, 0x89, [0; 4])),
        Check::FpuFormats
        | Check::ElwaddPhase
        | Check::Movd2HalfWords
        | Check::MovTf32Low
        | Check::ShiftxaDirection
        | Check::ZeroaccRevert => raise_matrix(bench, check),
        Check::SfpuFlagStack => run(bench, Opcode::Sfppopc, 0),
        Check::SfploadiMode => bench.run(&[encode::sfploadi(1, 3, 0)]),
        Check::Sfpshft2Mode => run(bench, Opcode::Sfpshft2, 7),
        Check::SfpconfigDestination => run(bench, Opcode::Sfpconfig, 9 << 4),
        Check::SfploadmacroSequence => {
            // Sequence 0 of all lanes: selector 1 for the first sub-unit.
            run(bench, Opcode::Sfpconfig, 1 << 8 | 4 << 4 | 1)?;
            run(bench, Opcode::Sfploadmacro, 0)
        }
        Check::UnpackContext
        | Check::UnpackAdc
        | Check::UnpackFormats
        | Check::UnpackModes
        | Check::UnpackOverride
        | Check::UnpackBlob
        | Check::UnpackCount
        | Check::UnpackAddress
        | Check::UnpackAlignment
        | Check::UnpackRow
        | Check::UnpackExponent => raise_unpack(bench, check),
        Check::PackConversion
        | Check::PackAccumulate
        | Check::PackStart
        | Check::PackRow
        | Check::PackRelu
        | Check::PackThreshold
        | Check::PackAddress
        | Check::PackRegister => raise_pack(bench, check),
        Check::ThreadConfigStore => {
            let at = bench.stamp();
            let stored = bench.tensix.write_config(THREAD_WINDOW, 1, at, &mut bench.env);
            door(bench, stored)
        }
        Check::ConfigUnmapped => {
            let at = bench.stamp();
            let stored = bench.tensix.write_config(0x4000, 1, at, &mut bench.env);
            door(bench, stored)
        }
        Check::MopConfigUnmapped => {
            let stored = bench.tensix.write_mop_config(T0, 9, 1);
            door(bench, stored)
        }
        Check::DstWindowWidth => {
            let loaded = bench.tensix.read_dst_window(T0, 0, Width::Byte);
            door(bench, loaded)
        }
        Check::DstWindowEnd => {
            let loaded = bench.tensix.read_dst_window(T0, 0x10_0000, Width::Word);
            door(bench, loaded)
        }
    }
}

fn raise_matrix(bench: &mut Bench, check: Check) -> Outcome {
    let own_formats =
        [(field::DISABLE_IMPLIED_SRCA_FMT_Base, 1), (field::DISABLE_IMPLIED_SRCB_FMT_Base, 1)];
    let source_formats =
        |a, b| [(field::ALU_FORMAT_SPEC_REG0_SrcA, a), (field::ALU_FORMAT_SPEC_REG1_SrcB, b)];
    set(bench, &own_formats)?;
    bench.run(&[encode::setdvalid(3)])?;
    match check {
        Check::FpuFormats => {
            set(bench, &source_formats(5, 1))?;
            run(bench, Opcode::Mvmul, 0)?;
            bench.run(&[encode::setdvalid(3)])?;
            run(bench, Opcode::Elwmul, 0)
        }
        Check::ElwaddPhase => {
            set(bench, &source_formats(5, 5))?;
            set(bench, &[(field::FIDELITY_BASE_Phase, 1)])?;
            run(bench, Opcode::Elwadd, 0)
        }
        Check::Movd2HalfWords => {
            set(bench, &source_formats(4, 4))?;
            run(bench, Opcode::Movd2a, 0)
        }
        Check::MovTf32Low => {
            set(bench, &source_formats(4, 4))?;
            run(bench, Opcode::Mova2d, 1 << 23)
        }
        Check::ShiftxaDirection => run(bench, Opcode::Shiftxa, 0),
        // All of Dst, with clear_zero_flags.
        _ => run(bench, Opcode::Zeroacc, 3 << 19 | 1 << 17),
    }
}

fn raise_unpack(bench: &mut Bench, check: Check) -> Outcome {
    let y = |word: u32| {
        // The second word of the tile descriptor holds the dimensions Y and Z.
        let mut field = field::THCON_SEC0_REG0_TileDescriptor;
        (field.addr32, field.width) = (field.addr32 + 1, 32);
        (field, word)
    };
    let to_dst = (field::THCON_SEC0_REG2_Unpack_If_Sel, 1);
    let formats = [BF16_TILE, BF16_OUT, y(1 | 1 << 16)];
    let with = |more: &[(ConfigField, u32)]| [&formats, more].concat();
    // Four rows of SrcA's address space are nowhere.
    let origin = (field::UNP0_ADDR_BASE_REG_1_Base, 4 * 16 * 2);
    bench.run(&[encode::setadcxx(0, 15, 3)])?;
    match check {
        Check::UnpackContext => {
            let section = field::THCON_SEC1_REG2_Out_data_format.addr32 - BF16_OUT.0.addr32;
            let of_srcb = formats.map(|(mut field, value)| {
                field.addr32 += section;
                (field, value)
            });
            unpack(bench, 1 << 23 | 1 << 7 | 2 << 10, &of_srcb)
        }
        Check::UnpackAdc => unpack(bench, 1 << 7 | 3 << 8, &with(&[origin])),
        Check::UnpackFormats => unpack(bench, 0, &[BF16_TILE, y(1), origin]),
        Check::UnpackModes => {
            unpack(bench, 0, &with(&[to_dst, (field::THCON_SEC0_REG2_Haloize_mode, 1), origin]))
        }
        Check::UnpackOverride => {
            set(bench, &[(field::SRCA_SET_SetOvrdWithAddr, 1)])?;
            unpack(bench, 0, &with(&[to_dst, origin]))
        }
        Check::UnpackBlob => {
            // Three blobs per plane, of which X names number 7: the next one would be number 8.
            bench.run(&[encode::setadc(7, 0, 0, 1)])?;
            let blobs = (BF16_TILE.0, BF16_TILE.1 | 3 << 8);
            unpack(bench, 1 << 2, &[blobs, BF16_OUT, y(1 | 1 << 16), origin])
        }
        Check::UnpackCount => {
            bench.run(&[encode::setadcxx(9, 2, 1)])?;
            unpack(bench, 0, &with(&[origin]))
        }
        Check::UnpackAddress => {
            unpack(bench, 0, &with(&[(field::THCON_SEC0_REG3_Base_address, 0x1_8000), origin]))
        }
        Check::UnpackAlignment => {
            unpack(bench, 0, &with(&[(field::UNP0_ADDR_BASE_REG_1_Base, 4 * 16 * 2 + 1)]))
        }
        Check::UnpackRow => {
            unpack(bench, 0, &with(&[(field::UNP0_ADDR_BASE_REG_1_Base, 40 * 16 * 2)]))
        }
        // BFP8a with a shared exponent of all ones.
        _ => {
            for word in 0..64 {
                bench.env.l1.write(word * 4, u32::MAX, Width::Word);
            }
            let formats = [(BF16_TILE.0, 2 | 1 << 4 | 16 << 16), (BF16_OUT.0, 2), y(1 | 1 << 16)];
            unpack(bench, 0, &[&formats[..], &[origin]].concat())
        }
    }
}

fn raise_pack(bench: &mut Bench, check: Check) -> Outcome {
    let out = |format| (field::THCON_SEC0_REG1_Out_data_format, format);
    match check {
        Check::PackConversion => pack(bench, 1, &[(field::THCON_SEC0_REG1_In_data_format, 12)]),
        Check::PackAccumulate => pack(bench, 1, &[out(6), (field::THCON_SEC0_REG1_Pack_L1_Acc, 1)]),
        Check::PackStart => pack(bench, 1, &[(field::THCON_SEC0_REG1_pack_start_intf_pos, 1)]),
        Check::PackRow => {
            pack(bench, 1, &[])?;
            bench.run(&[encode::setadcxx(0, 20, 4)])?;
            run(bench, Opcode::Pacr, 1)
        }
        Check::PackRelu => {
            let relu =
                [(field::STACC_RELU_ApplyRelu, 2), (field::STACC_RELU_ReluThreshold, 0xBF80)];
            pack(bench, 1, &relu)
        }
        Check::PackThreshold => pack(
            bench,
            1,
            &[
                (field::ALU_FORMAT_SPEC_REG2_Dstacc, 2),
                (field::THCON_SEC0_REG1_In_data_format, 11),
                out(11),
                (field::THCON_SEC0_REG1_Exp_threshold_en, 1),
            ],
        ),
        Check::PackAddress => pack(bench, 1, &[(field::THCON_SEC0_REG1_L1_Dest_addr, 0x1_8000)]),
        _ => run(bench, Opcode::PacrSetreg, 1 << 23 | 1 << 1),
    }
}

/// A coprocessor with those checks lowered.
fn bench(warned: Warned) -> Bench {
    let mut bench = Bench::new(TimingModel::Unit);
    bench.tensix.set_warned(warned);
    bench
}

#[test]
fn every_check_that_is_raised_names_its_row() {
    let mut wrong = Vec::new();
    for row in CHECKS {
        match raise(&mut bench(Warned::NONE), row.check) {
            Err(error) if (error.id, error.category) == (row.id, row.category) => {
                assert!(error.at.pc.is_some(), "{error}");
            }
            other => wrong.push((row.id, other)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_check_that_is_lowered_warns_once_and_lets_the_thread_go_on() {
    for row in CHECKS {
        let mut bench = bench(Warned::NONE.with(row.check));
        raise(&mut bench, row.check).expect(row.id);
        bench.settle(1000).expect(row.id);
        run(&mut bench, Opcode::Setdmareg, 7 << 8).expect(row.id);
        let ids: Vec<_> = bench.tensix.warnings().iter().map(|warning| warning.id).collect();
        assert_eq!(ids, [row.id]);
        assert!(bench.tensix.thread_idle(T0), "{}", row.id);
        assert_eq!(bench.tensix.read_gpr(T0, 0), 7, "{}", row.id);
    }
}

#[test]
fn check_that_is_lowered_leaves_the_others_as_they_are() {
    let all = CHECKS.iter().fold(Warned::NONE, |set, row| set.with(row.check));
    for row in CHECKS {
        let others = CHECKS.iter().filter(|other| other.check != row.check);
        let others = others.fold(Warned::NONE, |set, other| set.with(other.check));
        let error = raise(&mut bench(others), row.check).expect_err(row.id);
        assert_eq!(error.id, row.id);
        raise(&mut bench(all), row.check).expect(row.id);
    }
}

#[test]
fn catalogue_in_the_documents_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/checks.md");
    let page = std::fs::read_to_string(path).expect("docs/checks.md");
    let (introduction, table) = page.split_at(page.find("| id |").expect("a table"));
    let wanted = tensix::checks::markdown();
    if std::env::var_os("TILESCOPE_WRITE_CHECKS").is_some() {
        std::fs::write(path, format!("{introduction}{wanted}")).expect("written");
    } else {
        assert_eq!(table, wanted, "TILESCOPE_WRITE_CHECKS=1 cargo test -p tensix --test checks");
    }
}

#[test]
fn id_that_names_no_check_is_an_error_that_helps() {
    assert_eq!(Warned::parse("tensix-pack-row, TENSIX-PACK-RELU"), {
        Ok(Warned::NONE.with(Check::PackRow).with(Check::PackRelu))
    });
    let unknown = Warned::parse("tensix-pack-row,mover").expect_err("no such check");
    assert!(unknown.to_string().contains("tensix-mover-address"), "{unknown}");
    assert!(Warned::parse("A14").expect_err("a hazard").to_string().contains("docs/checks.md"));
}

#[test]
fn unpack_beyond_l1_when_lowered_reads_zeroes_there() {
    let mut bench = bench(Warned::NONE.with(Check::UnpackAddress));
    // The last 16 bytes of L1 are the first eight datums; a header of 16 bytes comes before them.
    bench.env.l1.write(0x17_FFF0, 0x3F80_3F80, Width::Word);
    let tile = (BF16_TILE.0, 5 | 1 << 4 | 16 << 16);
    let base = (field::THCON_SEC0_REG3_Base_address, 0x1_7FFE);
    let origin = (field::UNP0_ADDR_BASE_REG_1_Base, 4 * 16 * 2);
    bench.run(&[encode::setadcxx(0, 15, 3)]).expect("modelled");
    unpack(&mut bench, 1 << 6, &[tile, BF16_OUT, base, origin]).expect("lowered");
    // SrcA to Dst, and out of its window: BF16 as half-words.
    set(&mut bench, &[(field::ALU_FORMAT_SPEC_REG0_SrcA, 5)]).expect("modelled");
    bench.run(&[encode::setdvalid(2), encode::mova2d(0, 0, 0, 0, 0)]).expect("modelled");
    let datum = |bench: &Bench, column: u32| {
        bench.tensix.read_dst_window(T0, 2 * column, Width::Half).expect("a datum")
    };
    set(&mut bench, &[(field::RISC_DEST_ACCESS_CTRL_SEC0_fmt, 3)]).expect("modelled");
    let row: Vec<u32> = (0..16_u32).map(|column| datum(&bench, column)).collect();
    let mut wanted = [0; 16];
    wanted[..2].fill(0x3F80);
    assert_eq!(row, wanted);
}

#[test]
fn address_counter_override_names_the_thread_below() {
    // WhichThread = ThreadOverride - 1 [isa-wh: TensixCoprocessor/SETADC.md].
    let mut bench = bench(Warned::NONE);
    run(&mut bench, Opcode::Setadc, 1 << 21 | 1 << 18 | 2 << 16 | 7).expect("supported");
    let tree = bench.tensix.registers();
    let counter = |path: &str| tree.find(path).map(|register| register.value.clone());
    assert_eq!(counter("adc.T1.unpacker0.channel0.y"), Some(RegisterValue::Number(7)));
    assert_eq!(counter("adc.T0.unpacker0.channel0.y"), Some(RegisterValue::Number(0)));
}
