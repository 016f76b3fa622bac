//! The rows of the catalogue of checks.

use sim_core::Category;

use super::{Assumption, CheckRow, Then};

macro_rules! checks {
    ($($check:ident $id:literal $category:ident $then:ident
        what $what:literal
        lowered $lowered:literal
        source $source:literal;)*) => {
        /// A check of the catalogue.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Check {
            $(#[doc = $what] $check,)*
        }

        /// Every check, in the order of [`Check`].
        pub const CHECKS: &[CheckRow] = &[$(CheckRow {
            check: Check::$check,
            id: $id,
            category: Category::$category,
            then: Then::$then,
            what: $what,
            lowered: $lowered,
            source: $source,
        },)*];
    };
}

checks! {
    PushOverflow "tensix-push-overflow" UndefinedBehavior Ends
        what "an instruction is pushed into a full instruction FIFO"
        lowered "it is lost"
        source "[isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]";
    PushCollision "tensix-push-collision" NonContractual Again
        what "BRISC and the thread's own TRISC (or its MOP expander) deliver an instruction in one cycle"
        lowered "the TRISC's is lost if it comes second; if BRISC's does, it follows and none is lost"
        source "[isa-wh: TensixCoprocessor/README.md]";
    MopCountOverride "tensix-mop-count-override" MissingSpecification Again
        what "MOP of template 1 with bits in 19:0, which third parties say override the loop counts"
        lowered "the bits are ignored"
        source "[isa-wh: TensixCoprocessor/MOPExpander.md] [unknown: U-040]";
    MopOuterBug "tensix-mop-outer-bug" NonContractual Again
        what "MOP of template 1 with one outer iteration, no start and no inner instruction, but an end instruction"
        lowered "one iteration, without those that hardware adds"
        source "[isa-wh: TensixCoprocessor/MOPExpander.md] [unknown: U-041]";
    MopAfterExpander "tensix-mop-after-expander" UndefinedBehavior Ends
        what "MOP or MOP_CFG behind the MOP expander, where BRISC pushes"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/MOPExpander.md]";
    ReplayCount "tensix-replay-count" Unsupported Again
        what "REPLAY of more than 32 instructions"
        lowered "the low six bits of the count count, 0 is 32, and the buffer wraps"
        source "[isa-wh: TensixCoprocessor/REPLAY.md]";
    ReplayNested "tensix-replay-nested" UndefinedBehavior Ends
        what "REPLAY inside a recorded sequence"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/REPLAY.md]";
    UnassignedOpcode "tensix-unassigned-opcode" UndefinedBehavior Ends
        what "an opcode byte that names no instruction"
        lowered "no effect"
        source "[llk: instructions/assembly.yaml]";
    Reserved "tensix-reserved" UndefinedBehavior Ends
        what "TBUFCMD, which is reserved"
        lowered "no effect"
        source "[llk: instructions/assembly.yaml]";

    SemwaitCondition "tensix-semwait-condition" UndefinedBehavior Again
        what "SEMWAIT with no condition selected"
        lowered "its condition is met at once"
        source "[isa-wh: TensixCoprocessor/SEMWAIT.md]";
    Setc16Index "tensix-setc16-index" UndefinedBehavior Ends
        what "SETC16 of a word beyond the thread configuration"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/SETC16.md]";
    ConfigIndex "tensix-config-index" UndefinedBehavior Ends
        what "an instruction names a word beyond the configuration, or REG2FLOP one beyond THCON's"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/WRCFG.md]";
    Reg2flopTarget "tensix-reg2flop-target" MissingSpecification Again
        what "REG2FLOP with target, byte offset or context"
        lowered "those bits are ignored"
        source "[isa-wh: TensixCoprocessor/REG2FLOP_Configuration.md]";

    ScalarMode "tensix-scalar-mode" UndefinedBehavior Ends
        what "a scalar instruction with a mode that does not exist"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/SHIFTDMAREG.md]";
    L1Address "tensix-l1-address" UndefinedBehavior Ends
        what "a scalar instruction accesses memory beyond L1"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/LOADIND.md]";
    RegisterAddress "tensix-register-address" UndefinedBehavior Ends
        what "a scalar instruction accesses an address below all registers"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/LOADREG.md]";
    AtomicTarget "tensix-atomic-target" MissingSpecification Again
        what "an atomic with MemHierSel set"
        lowered "the bit is ignored: L1 is meant"
        source "[isa-wh: TensixCoprocessor/ATINCGET.md]";
    StoreindRow "tensix-storeind-row" UndefinedBehavior Ends
        what "STOREIND to a row of SrcA or SrcB that it cannot reach"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/STOREIND_Src.md]";

    MoverAddress "tensix-mover-address" UndefinedBehavior Ends
        what "a move beyond L1, or over the end of a region"
        lowered "nothing is moved"
        source "[isa-wh: TensixCoprocessor/XMOV.md]";
    MoverIram "tensix-mover-iram" MissingSpecification Ends
        what "a move into instruction RAM"
        lowered "nothing is moved"
        source "[isa-wh: TensixCoprocessor/XMOV.md]";
    TdmaCommand "tdma-command" UndefinedBehavior Ends
        what "a TDMA-RISC command with an opcode that does not exist"
        lowered "no effect"
        source "[isa-wh: TensixTile/TDMA-RISC.md]";
    TdmaL1Write "tdma-l1-write" UndefinedBehavior Ends
        what "a TDMA-RISC write command of an undefined form, unaligned, or beyond L1"
        lowered "nothing is written"
        source "[isa-wh: TensixTile/TDMA-RISC.md]";
    TdmaQueueOverflow "tdma-queue-overflow" UndefinedBehavior Ends
        what "a command is written to the full TDMA-RISC queue"
        lowered "it is lost"
        source "[isa-wh: TensixTile/TDMA-RISC.md]";
    TdmaParameters "tdma-parameters" UndefinedBehavior Ends
        what "a third TDMA-RISC command with parameters while two wait"
        lowered "it is lost"
        source "[isa-wh: TensixTile/TDMA-RISC.md]";

    FpuFormats "tensix-fpu-formats" UndefinedBehavior Again
        what "one of SrcA and SrcB holds five-bit, the other eight-bit exponents"
        lowered "each has its own mantissa; the exponents of both are taken to be like SrcA's"
        source "[isa-wh: TensixCoprocessor/MVMUL.md]";
    ElwaddPhase "tensix-elwadd-phase" NonContractual Again
        what "ELWADD or ELWSUB in a fidelity phase other than 0"
        lowered "as in phase 0"
        source "[isa-wh: TensixCoprocessor/ELWADD.md]";
    Movd2HalfWords "tensix-movd2-half-words" UndefinedBehavior Again
        what "MOVD2A or MOVD2B of TF32 or of low halves while Dst is in 16-bit mode"
        lowered "the half-words are moved, as BF16 for TF32"
        source "[isa-wh: TensixCoprocessor/MOVD2A.md]";
    MovTf32Low "tensix-mov-tf32-low" UndefinedBehavior Again
        what "a TF32 is moved to the low halves of Dst"
        lowered "the bit for low halves is ignored"
        source "[isa-bh: TensixCoprocessor/MOVA2D.md]";
    ShiftxaDirection "tensix-shiftxa-direction" UndefinedBehavior Ends
        what "SHIFTXA with a reserved direction"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/SHIFTXA.md]";
    ZeroaccRevert "tensix-zeroacc-revert" UndefinedBehavior Again
        what "ZEROACC with clear_zero_flags set, other than for one row or 16 rows of words"
        lowered "rows become valid in the modes for 16 rows; the others ignore the bit"
        source "[isa-wh: TensixCoprocessor/ZEROACC.md]";

    SfpuFlagStack "tensix-sfpu-flag-stack" UndefinedBehavior Ends
        what "SFPPUSHC onto a full flag stack, or SFPPOPC or its like on an empty one"
        lowered "the instruction has no effect"
        source "[isa-wh: TensixCoprocessor/SFPPUSHC.md]";
    SfploadiMode "tensix-sfploadi-mode" UndefinedBehavior Ends
        what "SFPLOADI with a mode that does not exist"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/SFPLOADI.md]";
    Sfpshft2Mode "tensix-sfpshft2-mode" UndefinedBehavior Ends
        what "SFPSHFT2 with a mode that does not exist"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/SFPSHFT2.md]";
    SfpconfigDestination "tensix-sfpconfig-destination" NonContractual Ends
        what "SFPCONFIG of destination 9 or 10"
        lowered "nothing is configured"
        source "[isa-bh: TensixCoprocessor/SFPCONFIG.md]";
    SfploadmacroSequence "tensix-sfploadmacro-sequence" UndefinedBehavior Ends
        what "SFPLOADMACRO of a sequence with selector 1, or with no store for the store sub-unit"
        lowered "it loads, and schedules what comes before that in the order of sub-units"
        source "[isa-bh: TensixCoprocessor/SFPLOADMACRO.md]";

    UnpackContext "tensix-unpack-context" UndefinedBehavior Again
        what "UNPACR names a context above 1 of unpacker 1"
        lowered "the low bit of the context counts"
        source "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]";
    UnpackAdc "tensix-unpack-adc" UndefinedBehavior Again
        what "UNPACR names the address counters of thread 3"
        lowered "those of its own thread"
        source "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]";
    UnpackFormats "tensix-unpack-formats" UndefinedBehavior Again
        what "UNPACR between formats that the unpackers cannot convert"
        lowered "unpacked without conversion, in the input format; no effect if there is no such format there"
        source "[isa-wh: TensixCoprocessor/Unpackers/FormatConversion.md]";
    UnpackModes "tensix-unpack-modes" UndefinedBehavior Again
        what "tile making with upsampling or decompression, or Dst with column shift or transposition"
        lowered "tile making and Dst win; the other mode is off"
        source "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]";
    UnpackOverride "tensix-unpack-override" UndefinedBehavior Again
        what "unpacking to Dst with SRCA_SET_SetOvrdWithAddr set"
        lowered "the bit is ignored"
        source "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]";
    UnpackBlob "tensix-unpack-blob" UndefinedBehavior Again
        what "UNPACR of blob 8; there are eight"
        lowered "the blob is number 0"
        source "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]";
    UnpackCount "tensix-unpack-count" UndefinedBehavior Again
        what "the row that UNPACR reads ends before it begins"
        lowered "it has no datums"
        source "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]";
    UnpackAddress "tensix-unpack-address" UndefinedBehavior Again
        what "UNPACR reads beyond the end of L1"
        lowered "what lies there reads as 0"
        source "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]";
    UnpackAlignment "tensix-unpack-alignment" UndefinedBehavior Again
        what "the output address of UNPACR is no multiple of a datum"
        lowered "rounded down"
        source "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]";
    UnpackRow "tensix-unpack-row" UndefinedBehavior Again
        what "UNPACR into a row beyond those of SrcA that it may write"
        lowered "that row is not written"
        source "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]";
    UnpackExponent "tensix-unpack-exponent" UndefinedBehavior Again
        what "a shared exponent gives an FP16 exponent of more than five bits"
        lowered "its low five bits"
        source "[isa-wh: TensixCoprocessor/Unpackers/FormatConversion.md]";

    PackConversion "tensix-pack-conversion" UndefinedBehavior Ends
        what "PACR between formats that the packer cannot convert"
        lowered "nothing is packed, and counters stay"
        source "[isa-wh: TensixCoprocessor/Packers/FormatConversion.md]";
    PackAccumulate "tensix-pack-accumulate" UndefinedBehavior Again
        what "PACR accumulates onto L1 in a format that cannot be added"
        lowered "L1 is overwritten"
        source "[isa-wh: TensixCoprocessor/Packers/README.md] [spec: numerics 4]";
    PackStart "tensix-pack-start" MissingSpecification Again
        what "PACR with pack_start_intf_pos set"
        lowered "the field is ignored"
        source "[hdr: hw/inc/internal/tt-1xx/blackhole/cfg_defines.h]";
    PackRow "tensix-pack-row" UndefinedBehavior Again
        what "PACR of no datums, or of more than a row holds"
        lowered "the row ends where it ends"
        source "[isa-wh: TensixCoprocessor/Packers/InputAddressGenerator.md]";
    PackRelu "tensix-pack-relu" UndefinedBehavior Again
        what "PACR with a negative ReLU threshold, or a threshold for integers"
        lowered "the threshold counts as 0: negative values become 0"
        source "[isa-wh: TensixCoprocessor/Packers/ReLU.md]";
    PackThreshold "tensix-pack-threshold" UndefinedBehavior Again
        what "PACR with an exponent threshold on BFP2a input"
        lowered "no threshold"
        source "[isa-wh: TensixCoprocessor/Packers/ExponentThresholding.md]";
    PackAddress "tensix-pack-address" UndefinedBehavior Ends
        what "PACR writes beyond L1"
        lowered "what would lie there is not written"
        source "[isa-wh: TensixCoprocessor/Packers/OutputAddressGenerator.md]";
    PackRegister "tensix-pack-register" UndefinedBehavior Ends
        what "PACR_SETREG writes below TDMA-RISC's registers"
        lowered "nothing is written"
        source "[isa-wh: TensixCoprocessor/PACR_SETREG.md]";

    ThreadConfigStore "tensix-thread-config-store" UndefinedBehavior Ends
        what "a core stores to ThreadConfig, which only SETC16 can write"
        lowered "no effect"
        source "[isa-bh: TensixCoprocessor/BackendConfiguration.md]";
    ConfigUnmapped "tensix-config-unmapped" UndefinedBehavior Ends
        what "a core stores beyond the configuration window"
        lowered "no effect"
        source "[isa-bh: TensixCoprocessor/BackendConfiguration.md]";
    MopConfigUnmapped "tensix-mop-config-unmapped" UndefinedBehavior Ends
        what "a core stores beyond the nine configuration words of the MOP expander"
        lowered "no effect"
        source "[isa-wh: TensixCoprocessor/MOPExpander.md]";
    DstWindowWidth "tensix-dst-window-width" UndefinedBehavior Ends
        what "a core accesses the window onto Dst in a width that its format does not have"
        lowered "a store has no effect, a load gives 0"
        source "[isa-bh: TensixCoprocessor/Dst.md]";
    DstWindowEnd "tensix-dst-window-end" UndefinedBehavior Ends
        what "a core accesses the window onto Dst beyond its last datum"
        lowered "a store has no effect, a load gives 0"
        source "[isa-bh: TensixCoprocessor/Dst.md]";
}

macro_rules! assumptions {
    ($($name:ident $id:literal $text:literal;)*) => {
        $(pub(crate) const $name: &Assumption = &Assumption { id: $id, text: $text };)*

        /// Every assumption.
        pub const ASSUMPTIONS: &[Assumption] = &[$(*$name,)*];
    };
}

assumptions! {
    TRNSPSRCA "tensix-trnspsrca" "TRNSPSRCA is taken to transpose rows 0 to 15 of SrcA (U-071)";
    MPOOL "tensix-mpool" "MPOOL3S* is taken to be GMPOOL with a SrcA of zeroes (U-072)";
    SETIBRWC "tensix-setibrwc" "SETIBRWC moves a bias counter that nothing reads (U-073)";
    WITHOUT_EFFECT "tensix-without-effect"
        "RAREB, SETASHRM* and SETPKEDGOF are taken to change nothing that can be seen (U-074)";
    GMPOOL_SHAPE "tensix-gmpool-shape"
        "GMPOOL without bit 19 is taken to compare one row of SrcA (U-075)";
    RSTDMA "tensix-rstdma"
        "RSTDMA is taken to empty the packer's buffers, as its soft reset does (U-076)";
    UNPACK_BROADCAST "tensix-unpack-broadcast"
        "UNPACR with srcb_bcast is taken to write each row to eight of SrcB (U-077)";
    XMOV_BLOCK "tensix-xmov-block"
        "XMOV of move block 1 is taken to read section 1 of THCON (U-078)";
    PACK_STOCHASTIC "tensix-pack-stochastic"
        "PACR rounds stochastically, with numbers of its own choice (U-082)";
    FPU_STOCHASTIC "tensix-fpu-stochastic"
        "arithmetic with Fpu_srnd_en is rounded to nearest all the same (U-083)";
}
