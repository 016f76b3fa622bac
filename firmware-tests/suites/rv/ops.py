"""What is measured: for every extension the instruction forms and their operand values.

A form is one instruction word; a row is one execution of it. Sources of the choice of instructions:
[isa-bh: TensixTile/BabyRISCV/README.md, CSRs.md], [spec: numerics 6], [spec: boot-and-sync 3.2].
"""
import random
import struct

SEED = 20260801
# Registers are fixed: results in x10 / f10, operands in x11, x12, x13 / f11, f12, f13.
EDGE = [0, 1, 2, 0xFFFFFFFF, 0xFFFFFFFE, 0x80000000, 0x7FFFFFFF, 0x80000001, 31, 32, 33, 0x00FF00FF, 0x12345678]
UNARY = EDGE + [1 << i for i in range(0, 32, 3)] + [(1 << i) - 1 for i in range(2, 32, 3)] + [0x00000080, 0x00008000, 0xFF00FF00]
IMM12 = [0, 1, -1, 5, 2047, -2048, 0x555, -1366]

ZERO, ONE, INF, NAN, SNAN = 0x00000000, 0x3F800000, 0x7F800000, 0x7FC00000, 0x7F800001
MIN_NORMAL, MAX_NORMAL, MIN_SUB, MAX_SUB = 0x00800000, 0x7F7FFFFF, 0x00000001, 0x007FFFFF
F_EDGE = [ZERO, 0x80000000, ONE, 0xBF800000, INF, 0xFF800000, NAN, SNAN, 0xFFC12345, MIN_NORMAL, 0x80800000,
          MAX_NORMAL, 0xFF7FFFFF, MIN_SUB, 0x807FFFFF, 0x3F800001, 0x3F7FFFFF, 0x40490FDB, 0x4B800000, 0x33800000]
H_EDGE = [0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0x0400, 0x8400, 0x7BFF, 0xFBFF, 0x0001, 0x83FF,
          0x3C01, 0x3BFF, 0x4248, 0x6400, 0x1000]
# Round-to-nearest ties and neighbours for conversions to integers, and the ends of the integer ranges.
F_TO_INT = F_EDGE + [0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 0xC0200000, 0x3EFFFFFF, 0x3F000001, 0x4B000000, 0x4AFFFFFF,
                     0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F7FFFFF, 0x4F800000, 0xBF7FFFFF, 0x3F400000]
INT_TO_F = EDGE + [0x01000001, 0x01000003, 0x01000002, 0xFEFFFFFF, 0x7FFFFFBF, 0x7FFFFFC0, 0xFFFFFF7F, 0xFFFFFF80, 0x02000004]


def pairs(values, extra, rng, limit=None):
    """All pairs of edge values (or a seeded sample of them) and `extra` random pairs."""
    both = [(a, b) for a in values for b in values]
    if limit and len(both) > limit:
        both = rng.sample(both, limit)
    return both + [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(extra)]


def near_floats(rng, count):
    """Pairs of normal numbers with close exponents: cancellation, ties, carries."""
    out = []
    for _ in range(count):
        e = rng.randrange(40, 215)
        d = rng.choice([0, 0, 1, 1, 2, 3, 12, 22, 23, 24, 25, 26, 27, 30])
        m = [rng.choice([0, 1, 0x7FFFFF, 0x400000, rng.getrandbits(23)]) for _ in range(2)]
        s = [rng.getrandbits(1) for _ in range(2)]
        out.append((s[0] << 31 | e << 23 | m[0], s[1] << 31 | max(1, e - d) << 23 | m[1]))
    return out


def multiply_pairs(rng, count):
    """Pairs whose product is an ordinary number, and some near overflow and underflow."""
    out = []
    for i in range(count):
        total = rng.choice([127, 128, 200, 60, 254, 253, 2, 1]) if i % 4 else 127
        e1 = rng.randrange(max(1, total + 127 - 254), min(254, total + 126) + 1)
        e2 = min(254, max(1, total + 127 - e1))
        out.append((rng.getrandbits(1) << 31 | e1 << 23 | rng.getrandbits(23), rng.getrandbits(1) << 31 | e2 << 23 | rng.getrandbits(23)))
    return out


def short_triples(rng, count):
    """Multiply-add operands whose product has at most 24 significant bits, so that fusing changes nothing."""
    out = []
    for _ in range(count):
        ea, eb = rng.randrange(90, 160), rng.randrange(90, 160)
        ma, mb = rng.getrandbits(11) << 12, rng.getrandbits(11) << 12
        ec = min(254, max(1, ea + eb - 127 + rng.choice([-30, -25, -24, -3, -1, 0, 0, 1, 2, 24, 26])))
        s = rng.getrandbits(3)
        out.append(((s & 1) << 31 | ea << 23 | ma, (s >> 1 & 1) << 31 | eb << 23 | mb, (s >> 2) << 31 | ec << 23 | rng.getrandbits(23)))
    return out


class Form:
    """One instruction (`asm`), the rows to run it on, and how to lay it out (`kind`)."""

    def __init__(self, asm, ins, out, rows, kind="plain", flags=False):
        self.asm, self.ins, self.out, self.rows, self.kind, self.flags = asm, ins, out, rows, kind, flags


def integer(rng):
    forms, two = [], pairs(EDGE, 24, rng)
    for op in "add sub sll slt sltu xor srl sra or and".split():
        forms.append(Form(f"{op} x10, x11, x12", ["x11", "x12"], "x10", two))
    forms.append(Form("add x11, x11, x12", ["x11", "x12"], "x11", two[:20]))
    forms.append(Form("sub x12, x11, x12", ["x11", "x12"], "x12", two[:20]))
    forms.append(Form("add x10, x11, x11", ["x11"], "x10", [(a,) for a in EDGE]))
    for op in "addi slti sltiu xori ori andi".split():
        forms += [Form(f"{op} x10, x11, {i}", ["x11"], "x10", [(a,) for a in EDGE]) for i in IMM12]
    for op in "slli srli srai".split():
        forms += [Form(f"{op} x10, x11, {i}", ["x11"], "x10", [(a,) for a in EDGE]) for i in (0, 1, 7, 16, 31)]
    forms += [Form(f"lui x10, {i}", [], "x10", [()]) for i in (0, 1, 0x80000, 0xFFFFF, 0x12345)]
    forms += [Form(f"auipc x10, {i}", [], "x10-pc", [()]) for i in (0, 1, 0x80000, 0xFFFFF, 0x12345)]
    branch = pairs([0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF], 6, rng)
    for op in "beq bne blt bge bltu bgeu".split():
        forms.append(Form(f"{op} x11, x12, forward", ["x11", "x12"], "taken", branch, "branch"))
        forms.append(Form(f"{op} x11, x12, backward", ["x11", "x12"], "taken", branch[::3], "branch"))
    forms += [Form(f"jal x10, rung{i}", [], "x10-pc landing", [()], "jump") for i in (0, 1, 5)]
    forms += [Form(f"jalr x10, {i}(x11)", ["x11-pc"], "x10-pc landing", [(4 + 8 * n - i + odd,) for n in (0, 3, 7) for odd in (0, 1)], "jump")
              for i in (0, 4, -8, 2047, -2048)]
    forms.append(Form("jalr x11, 0(x11)", ["x11-pc"], "x11-pc landing", [(4,), (28,)], "jump"))
    return forms


def memory(rng):
    forms = []
    for op, size in (("lb", 1), ("lbu", 1), ("lh", 2), ("lhu", 2), ("lw", 4)):
        for imm in (0, size, -4, 8):
            forms.append(Form(f"{op} x10, {imm}(x11)", ["x11-memory"], "x10", [(16 + k * size,) for k in range(8)], "memory"))
    values = [0, 0xFFFFFFFF, 0x80000000, 0x12345678, rng.getrandbits(32)]
    for op, size in (("sb", 1), ("sh", 2), ("sw", 4)):
        for imm in (0, -size, 4):
            rows = [(16 + k * size, v) for k in range(4 // size) for v in values]
            forms.append(Form(f"{op} x12, {imm}(x11)", ["x11-memory", "x12"], "memory", rows, "memory"))
    return forms


def atomics(rng):
    rows = [(a, b) for a, b in pairs(EDGE, 12, rng)]
    forms = []
    for op in "amoadd amoswap amoand amoor amoxor amomin amomax amominu amomaxu".split():
        for order, use in (("", rows), (".aq", rows[:12]), (".rl", rows[:12]), (".aqrl", rows[:12])):
            forms.append(Form(f"{op}.w{order} x10, x12, (x11)", ["word", "x12"], "x10 word", use, "atomic"))
    return forms


def simple(names2, names1=(), imms=()):
    def build(rng):
        two = pairs(EDGE, 24, rng)
        forms = [Form(f"{op} x10, x11, x12", ["x11", "x12"], "x10", two) for op in names2.split()]
        forms += [Form(f"{op} x10, x11", ["x11"], "x10", [(a,) for a in UNARY] + [(rng.getrandbits(32),) for _ in range(16)])
                  for op in (names1.split() if names1 else ())]
        for op in imms:
            forms += [Form(f"{op} x10, x11, {i}", ["x11"], "x10", [(a,) for a in EDGE]) for i in (0, 1, 8, 13, 31)]
        return forms
    return build


def csr(rng):
    forms, rows = [], [(a, b) for a in (0, 1, 0x15, 0x1F) for b in (0, 1, 0x0A, 0x1F)]
    for op in "csrrw csrrs csrrc".split():
        forms.append(Form(f"{op} x10, fcsr, x11", ["fcsr", "x11"], "x10 fcsr", rows))
    forms.append(Form("csrrw x0, fcsr, x11", ["fcsr", "x11"], "fcsr", rows))
    forms += [Form(f"{op} x10, fcsr, x0", ["fcsr"], "x10 fcsr", [(0,), (0x1F,), (0x15,)]) for op in ("csrrs", "csrrc", "csrrw")]
    for op in "csrrwi csrrsi csrrci".split():
        forms += [Form(f"{op} x10, fcsr, {i}", ["fcsr"], "x10 fcsr", [(0,), (0x1F,), (0x15,)]) for i in (0, 1, 0x1F)]
    return forms


def floats(s, edge, add_rows, mul_rows, fma_short, fma_any, to_int, rng):
    """Common shape of F (s = "s") and Zfh (s = "h"). No division, no square root: the cores have neither."""
    forms, f2, f1 = [], ["f11", "f12"], ["f11"]
    cross = [(a, b) for a in edge for b in edge]
    cross = cross if len(cross) <= 400 else rng.sample(cross, 400)
    for op, more in (("fadd", add_rows), ("fsub", add_rows), ("fmul", mul_rows)):
        forms.append(Form(f"{op}.{s} f10, f11, f12, dyn", f2, "f10", cross + more, flags=True))
    some = cross[::2]
    for op in "fmin fmax".split():
        forms.append(Form(f"{op}.{s} f10, f11, f12", f2, "f10", some + add_rows[:20], flags=True))
    for op in "fsgnj fsgnjn fsgnjx".split():
        forms.append(Form(f"{op}.{s} f10, f11, f12", f2, "f10", cross[::9]))
    for op in "feq flt fle".split():
        forms.append(Form(f"{op}.{s} x10, f11, f12", f2, "x10", some + add_rows[:20], flags=True))
    for op in "fmadd fmsub fnmadd fnmsub".split():
        forms.append(Form(f"{op}.{s} f10, f11, f12, f13, dyn", f2 + ["f13"], "f10", fma_short + fma_any, flags=True))
    forms.append(Form(f"fclass.{s} x10, f11", f1, "x10", [(a,) for a in edge]))
    for op in ("fcvt.w", "fcvt.wu"):
        forms.append(Form(f"{op}.{s} x10, f11, dyn", f1, "x10", [(a,) for a in to_int], flags=True))
    for op in ("w", "wu"):
        forms.append(Form(f"fcvt.{s}.{op} f10, x11, dyn", ["x11"], "f10", [(a,) for a in INT_TO_F] + [(rng.getrandbits(32),) for _ in range(24)], flags=True))
    return forms


def single(rng):
    fma_any = [(rng.choice(F_EDGE), rng.choice(F_EDGE), rng.choice(F_EDGE)) for _ in range(110)]
    fma_any += [(a, b, rng.getrandbits(1) << 31 | min(254, max(1, (a >> 23 & 255) + (b >> 23 & 255) - 127)) << 23 | rng.getrandbits(23)) for a, b in multiply_pairs(rng, 40)]
    forms = floats("s", F_EDGE, near_floats(rng, 120), multiply_pairs(rng, 100), short_triples(rng, 90), fma_any,
                   F_TO_INT + [rng.getrandbits(32) for _ in range(40)], rng)
    forms.append(Form("fmv.x.w x10, f11", ["f11"], "x10", [(a,) for a in F_EDGE]))
    forms.append(Form("fmv.w.x f10, x11", ["x11"], "f10", [(a,) for a in F_EDGE]))
    forms.append(Form("flw f10, 4(x11)", ["x11-memory"], "f10", [(12,), (16,), (24,)], "memory"))
    forms.append(Form("fsw f12, -4(x11)", ["x11-memory", "f12"], "memory", [(16, a) for a in F_EDGE[:6]], "memory"))
    return forms


def boxed(h):
    """A half-precision value as it stands in a 32-bit register."""
    return 0xFFFF0000 | h


def half(rng):
    edge = [boxed(h) for h in H_EDGE]
    def number():
        return boxed(rng.getrandbits(1) << 15 | rng.randrange(6, 26) << 10 | rng.getrandbits(10))
    two = [(number(), number()) for _ in range(90)]
    short = [tuple(boxed(rng.getrandbits(1) << 15 | rng.randrange(10, 19) << 10 | rng.getrandbits(4) << 6) for _ in range(2)) + (number(),) for _ in range(60)]
    forms = floats("h", edge, two, two, short, [tuple(rng.choice(edge) for _ in range(3)) for _ in range(60)], edge + [number() for _ in range(30)], rng)
    forms.append(Form("fmv.x.h x10, f11", ["f11"], "x10", [(a,) for a in edge]))
    forms.append(Form("fmv.h.x f10, x11", ["x11"], "f10", [(a & 0xFFFF,) for a in edge]))
    forms.append(Form("fcvt.s.h f10, f11", ["f11"], "f10", [(a,) for a in edge] + [(number(),) for _ in range(20)], flags=True))
    ties = [struct.unpack("<I", struct.pack("<f", v))[0] for v in (1.00048828125, 1.00146484375, 65504.0, 65519.0, 65520.0, 6.1e-5, 6.0e-8, 2.9e-8, 3.0e-8, 1e-3)]
    forms.append(Form("fcvt.h.s f10, f11, dyn", ["f11"], "f10", [(a,) for a in F_EDGE + ties], flags=True))
    forms.append(Form("flh f10, 2(x11)", ["x11-memory"], "f10", [(16,), (18,)], "memory"))
    forms.append(Form("fsh f12, 2(x11)", ["x11-memory", "f12"], "memory", [(16, a) for a in edge[:5]], "memory"))
    return forms


SUITES = {
    "i": integer,
    "i_memory": memory,
    "m": simple("mul mulh mulhsu mulhu div divu rem remu"),
    "zicsr": csr,
    "zaamo": atomics,
    "zba": simple("sh1add sh2add sh3add"),
    "zbb": simple("andn orn xnor max maxu min minu rol ror", "clz ctz cpop sext.b sext.h zext.h orc.b rev8", ("rori",)),
    "zbkb": simple("pack", "brev8"),
    "f": single,
    "zfh": half,
}


def build(name):
    """Forms of one suite, the same on every run."""
    return SUITES[name](random.Random(f"{SEED}/{name}"))
