#!/usr/bin/env python3
"""Runs random ttnn operations on two device libraries and compares what they give, bit for bit.

    pip install ttnn==0.81.1 torch                              # Python 3.10 or newer
    export TT_METAL_SIMULATOR=DIR/libtilescope_bh.so            # from `tilescope sim install DIR`
    tools/live/ttnn_random.py --rival OTHER/libttsim_bh.so      # a hundred of them
    tools/live/ttnn_random.py --rival ... --seed 5 --first 100 --count 400
    tools/live/ttnn_random.py --rival ... --seed 5 --first 117 --count 1    # one of them again

Seed and number say all about a case: operation, shapes, types, layouts, memory, values (zeroes, infinities, NaNs and
subnormal numbers among them). Kernels are compiled while it runs. Cases run in one process of each library, in a fresh one
behind a crash or a case that takes longer than `--timeout`. What ttnn refuses on both libraries (it does not take
such tensors, or a kernel does not compile) says nothing about either, and is counted apart; so is what ends or hangs on both,
with what the first library says about it.

Exit code 0 if no case differs, 1 if one does (also if only one library carries it out), 2 for a wrong command or a library
on which no device opens, 77 without ttnn or torch.
"""

import argparse
import collections
import contextlib
import hashlib
import importlib.util
import json
import math
import os
import pathlib
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading

BATCH = 40  # cases of one library before it is the other's turn
FLOATS, INTEGERS = ("bfloat16", "float32", "bfloat8_b", "bfloat4_b"), ("int32", "uint32", "uint16")
AWKWARD = (0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, 3e38)

UNARY = """abs acos asin atan cbrt ceil cos cosh deg2rad eqz erf exp exp2 expm1 floor frac gelu gez gtz hardsigmoid
    hardswish hardtanh isfinite isinf isnan lez log log10 log1p log_sigmoid logical_not ltz mish neg nez rad2deg
    reciprocal relu relu6 round rsqrt sigmoid sign signbit silu sin sinh softplus softsign sqrt square tan tanh
    tanhshrink tril triu trunc""".split()
BINARY = """add subtract multiply divide eq ne gt lt ge le maximum minimum pow squared_difference logaddexp hypot xlogy
    remainder fmod logical_and logical_or logical_xor isclose""".split()
OF_INTEGERS = """add sub mul eq ne gt lt ge le maximum minimum bitwise_and bitwise_or bitwise_xor bitwise_left_shift
    bitwise_right_shift logical_right_shift gcd lcm squared_difference""".split()
FUSED = "RELU GELU SILU SIGMOID TANH EXP SQRT ABS NEG SQUARE SIGN EQZ RECIP".split()
FIDELITIES = "LoFi HiFi2 HiFi3 HiFi4".split()
SHARDS = "HEIGHT WIDTH BLOCK".split()


class Case:
    """One case: what it draws, and its name once its family has built it."""

    def __init__(self, ttnn, torch, device, seed, number):
        self.ttnn, self.torch, self.device = ttnn, torch, device
        self.random = random.Random(f"{seed}/{number}")
        self.values = torch.Generator().manual_seed(self.random.randrange(1 << 31))
        family, _ = self.random.choices(FAMILIES, [weight for _, weight in FAMILIES])[0]
        self.name, self.compute = family(self)

    def one(self, *choices):
        return self.random.choice(choices)

    def flip(self, chance=0.5):
        return self.random.random() < chance

    def float_type(self):
        return self.random.choices(FLOATS, (5, 4, 2, 1))[0]

    def sizes(self, least=2, most=4):
        rows_and_columns = [self.one(1, 17, 31, 32, 33, 64, 96, self.random.randint(1, 100)) for _ in range(2)]
        return [self.one(1, 2, 3) for _ in range(self.random.randint(least, most) - 2)] + rows_and_columns

    def data(self, sizes, kind):
        """A torch tensor of values as a ttnn tensor of that type can have them."""
        torch = self.torch
        if kind in INTEGERS:
            most = self.one(10, 65_535) if kind == "uint16" else self.one(10, 1 << 20, (1 << 31) - 1)
            least = -most if kind == "int32" else 0
            return torch.randint(least, most, sizes, generator=self.values, dtype=torch.int64).to(torch.int32)
        values = torch.randn(sizes, generator=self.values)
        match self.one("plain", "plain", "wide", "small", "positive"):
            case "wide":
                values *= torch.exp2(torch.randint(-30, 30, sizes, generator=self.values).float())
            case "small":
                values *= 1e-3
            case "positive":
                values = values.abs() + 0.1
        if self.flip(0.1):
            flat = values.flatten()
            for value in AWKWARD:
                flat[self.random.randrange(len(flat))] = value
            values = flat.reshape(values.shape)
        return values if kind == "float32" else values.bfloat16()

    def put(self, tensor, kind, layout="TILE"):
        memory = self.one(self.ttnn.DRAM_MEMORY_CONFIG, self.ttnn.L1_MEMORY_CONFIG)
        return self.ttnn.from_torch(tensor, dtype=getattr(self.ttnn, kind), layout=getattr(self.ttnn, f"{layout}_LAYOUT"),
                                    device=self.device, memory_config=memory)

    def tensor(self, sizes, kind, layout="TILE"):
        return self.put(self.data(sizes, kind), kind, layout)

    def kernels(self):
        """How its compute kernels are to be configured."""
        return self.ttnn.init_device_compute_kernel_config(
            self.device.arch(), math_fidelity=getattr(self.ttnn.MathFidelity, self.one(*FIDELITIES)),
            math_approx_mode=self.flip(), fp32_dest_acc_en=self.flip(), packer_l1_acc=self.flip())


def unary(case):
    operation, kind, sizes = case.one(*UNARY), case.float_type(), case.sizes()
    return f"{operation} {kind} {sizes}", lambda: getattr(case.ttnn, operation)(case.tensor(sizes, kind))


def binary(case):
    operation, kind, sizes = case.one(*BINARY), case.float_type(), case.sizes()
    others = [1 if case.flip(0.12) else size for size in sizes]  # broadcast
    scalar = case.flip(0.2) and case.one(0.5, 2.0, -1.75, 3.0)
    compute = getattr(case.ttnn, operation)
    if scalar:
        return f"{operation} {kind} {sizes} {scalar}", lambda: compute(case.tensor(sizes, kind), scalar)
    return (f"{operation} {kind} {sizes} {others}",
            lambda: compute(case.tensor(sizes, kind), case.tensor(others, kind)))


def integers(case):
    operation, kind, sizes = case.one(*OF_INTEGERS), case.one(*INTEGERS), case.sizes()
    second = case.data(sizes, kind)
    if "shift" in operation:
        second = second.abs() % 32
    return (f"{operation} {kind} {sizes}",
            lambda: getattr(case.ttnn, operation)(case.tensor(sizes, kind), case.put(second, kind)))


def fused(case):
    """A binary operation with others before and behind it."""
    operation, kind, sizes = case.one("add", "multiply", "subtract", "maximum"), case.float_type(), case.sizes()
    around = [case.one(None, None, *FUSED) for _ in range(3)]

    def compute():
        lists = [[] if name is None else [case.ttnn.UnaryWithParam(getattr(case.ttnn.UnaryOpType, name))] for name in around]
        return getattr(case.ttnn, operation)(
            case.tensor(sizes, kind), case.tensor(sizes, kind), input_tensor_a_activations=lists[0],
            input_tensor_b_activations=lists[1], activations=lists[2])
    return f"{operation} {kind} {sizes} fused {around}", compute


def ternary(case):
    operation, kind, sizes = case.one("where", "addcmul", "addcdiv", "lerp", "mac"), case.float_type(), case.sizes()
    return (f"{operation} {kind} {sizes}",
            lambda: getattr(case.ttnn, operation)(*(case.tensor(sizes, kind) for _ in range(3))))


def reduction(case):
    operation = case.one("sum", "mean", "max", "min", "std", "var", "cumsum", "topk", "sort", "argmax")
    kind, sizes, dim = case.one("bfloat16", "float32", "bfloat8_b"), case.sizes(), case.one(-1, -2)
    ttnn, name = case.ttnn, f"{operation} {kind} {sizes} {dim}"
    match operation:
        case "cumsum":
            return name, lambda: ttnn.cumsum(case.tensor(sizes, kind), dim)
        case "topk":
            wide = 64 * case.one(1, 2, 4)
            return f"topk {wide}", lambda: ttnn.topk(case.tensor([1, 1, 32, wide], "bfloat16"), 32, largest=case.flip())
        case "sort":
            return "sort", lambda: ttnn.sort(case.tensor([1, 1, 32, 64], "bfloat16"), dim=-1, descending=case.flip())
        case "argmax":
            return f"argmax {sizes}", lambda: ttnn.argmax(case.tensor(sizes, "bfloat16", "ROW_MAJOR"), dim=-1)
    return name, lambda: getattr(ttnn, operation)(case.tensor(sizes, kind), dim=dim, keepdim=case.flip())


def movement(case):
    operation = case.one("permute", "transpose", "pad", "slice", "concat", "repeat", "reshape", "tilize", "untilize", "stack",
                         "repeat_interleave")
    kind = case.one("bfloat16", "float32", "int32", "bfloat8_b")
    layout = "TILE" if kind == "bfloat8_b" else case.one("TILE", "ROW_MAJOR")
    ttnn, sizes = case.ttnn, case.sizes(4, 4)
    name, tensor = f"{operation} {kind} {layout} {sizes}", lambda: case.tensor(sizes, kind, layout)
    match operation:
        case "permute":
            order = case.random.sample(range(4), 4)
            return f"{name} {order}", lambda: ttnn.permute(tensor(), order)
        case "transpose":
            pair = case.random.sample(range(4), 2)
            return f"{name} {pair}", lambda: ttnn.transpose(tensor(), *pair)
        case "pad":
            widths = [(0, 0), *((0, case.random.randint(0, most)) for most in (2, 40, 40))]
            return f"{name} {widths}", lambda: ttnn.pad(tensor(), widths, case.one(0, 1))
        case "slice":
            begins = [case.random.randrange(size) for size in sizes]
            ends = [case.random.randint(begin + 1, size) for begin, size in zip(begins, sizes)]
            return f"{name} {begins} {ends}", lambda: ttnn.slice(tensor(), begins, ends)
        case "concat":
            dim = case.random.randrange(4)
            others = [case.random.randint(1, 40) if at == dim else size for at, size in enumerate(sizes)]
            return f"{name} {others}", lambda: ttnn.concat([tensor(), case.tensor(others, kind, layout)], dim)
        case "repeat":
            times = [case.one(1, 2) for _ in sizes]
            return f"{name} {times}", lambda: ttnn.repeat(tensor(), times)
        case "reshape":
            return name, lambda: ttnn.reshape(tensor(), [math.prod(sizes[:3]), sizes[3]])
        case "tilize":
            return name, lambda: ttnn.tilize_with_zero_padding(case.tensor(sizes, kind, "ROW_MAJOR"))
        case "untilize":
            return name, lambda: ttnn.to_layout(case.tensor(sizes, kind), ttnn.ROW_MAJOR_LAYOUT)
        case "stack":
            return name, lambda: ttnn.stack([tensor(), tensor()], dim=0)
    return name, lambda: ttnn.repeat_interleave(tensor(), 2, dim=case.random.randrange(4))


def product(case):
    """A matmul that chooses its program itself."""
    first, second, result = case.float_type(), case.float_type(), case.one(None, "bfloat16", "float32", "bfloat8_b")
    m, k, n = (case.one(17, 32, 33, 64, 96, 128, case.random.randint(1, 130)) for _ in range(3))
    planes, after = case.one([], [2], [1, 3]), case.one(None, None, "relu", "gelu", "silu")

    def compute():
        more = {} if result is None else {"dtype": getattr(case.ttnn, result)}
        return case.ttnn.matmul(case.tensor([*planes, m, k], first), case.tensor([*planes, k, n], second), activation=after,
                                compute_kernel_config=case.kernels(), **more)
    return f"matmul {first} {second} {planes} {m}x{k}x{n} {result} {after}", compute


def shared_product(case):
    """A matmul over several tiles of the chip, which multicast to each other."""
    ttnn, (columns, rows), block = case.ttnn, (case.one(1, 2, 3), case.one(1, 2, 3)), case.one(1, 2)
    high, wide, inner = case.one(1, 2), case.one(1, 2, 4), 32 * block * case.one(1, 2, 3)
    first, second, way = case.float_type(), case.float_type(), case.one("both", "rows", "columns")
    high_in_all = high * {"both": rows, "rows": 1, "columns": rows * columns}[way]
    wide_in_all = wide * {"both": columns, "rows": rows * columns, "columns": 1}[way]

    def compute():
        options = dict(compute_with_storage_grid_size=(columns, rows), in0_block_w=block, out_subblock_h=1, out_subblock_w=1,
                       per_core_M=high, per_core_N=wide, fused_activation=None)
        if way == "both":
            program = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(transpose_mcast=False, **options)
        else:
            program = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(fuse_batch=True, mcast_in0=way == "rows", **options)
        return ttnn.matmul(case.tensor([1, 1, 32 * high_in_all, inner], first),
                           case.tensor([1, 1, inner, 32 * wide_in_all], second), program_config=program,
                           compute_kernel_config=case.kernels())
    return f"matmul over {columns} by {rows} tiles, {way}, {first} {second} {high_in_all}x{inner}x{wide_in_all}", compute


def cast(case):
    before, after, sizes = case.one(*FLOATS, *INTEGERS), case.one(*FLOATS, *INTEGERS), case.sizes()
    return (f"typecast {before} {after} {sizes}",
            lambda: case.ttnn.typecast(case.tensor(sizes, before), getattr(case.ttnn, after)))


def norm(case):
    operation, kind = case.one("softmax", "layer_norm", "rms_norm"), case.one("bfloat16", "float32", "bfloat8_b")
    ttnn, sizes, name = case.ttnn, [1, 1, case.one(32, 64), case.one(32, 64, 96, 128)], f"{operation} {kind}"
    if operation == "softmax":
        return f"{name} {sizes}", lambda: ttnn.softmax(case.tensor(sizes, kind), case.one(-1, -2))
    return (f"{name} {sizes}", lambda: getattr(ttnn, operation)(
        case.tensor(sizes, kind), weight=case.tensor([1, sizes[3]], "bfloat16"), compute_kernel_config=case.kernels()))


def heads(case):
    ttnn, kind, count, high = case.ttnn, case.one("bfloat16", "bfloat8_b"), case.one(1, 2, 4), case.one(32, 64, 128)
    match case.one("split", "concatenate", "rotate", "cache"):
        case "split":
            return f"split heads {kind} {high}", lambda: ttnn.transformer.split_query_key_value_and_split_heads(
                case.tensor([1, high, 768], kind), num_heads=4, transpose_key=case.flip())
        case "concatenate":
            return (f"concatenate heads {kind} {count} {high}",
                    lambda: ttnn.transformer.concatenate_heads(case.tensor([1, count, high, 64], kind)))
        case "rotate":
            return f"rotary embedding {kind} {count} {high}", lambda: ttnn.experimental.rotary_embedding(
                *(case.tensor([1, planes, high, 64], kind) for planes in (count, 1, 1)))

    def fill():
        cache = case.tensor([1, count, 128, 64], kind)
        ttnn.kv_cache.fill_cache_for_user_(cache, case.tensor([1, count, 64, 64], kind), 0)
        return cache
    return f"fill cache {kind} {count}", fill


def shards(case):
    """A tensor that lies in several tiles of the chip."""
    ttnn, how, kind = case.ttnn, case.one(*SHARDS), case.one("bfloat16", "float32", "bfloat8_b")
    columns, rows, operation = case.one(1, 2, 4), case.one(1, 2, 3), case.one("copy", "add", "relu", "transpose", "untilize")
    high, wide = {"HEIGHT": (rows * columns, 2), "WIDTH": (1, rows * columns), "BLOCK": (rows, columns)}[how]
    sizes = [1, 1, 32 * high, 32 * wide]

    def compute():
        memory = ttnn.create_sharded_memory_config(sizes, core_grid=ttnn.CoreGrid(y=rows, x=columns),
                                                   strategy=getattr(ttnn.ShardStrategy, how))
        tensor = lambda: ttnn.to_memory_config(case.tensor(sizes, kind), memory)
        match operation:
            case "copy":
                return ttnn.sharded_to_interleaved(tensor(), ttnn.L1_MEMORY_CONFIG)
            case "add":
                return ttnn.add(tensor(), tensor(), memory_config=memory)
            case "transpose":
                return ttnn.transpose(tensor(), -1, -2)
        return getattr(ttnn, operation)(tensor())
    return f"{operation} of {how} shards {kind} {columns} by {rows}", compute


def convolution(case):
    ttnn, side, inputs, outputs = case.ttnn, case.one(8, 10, 16), case.one(3, 16, 32, 64), case.one(16, 32, 64)
    kernel, stride, padding = case.one((1, 1, 0), (1, 2, 0), (2, 1, 0), (3, 1, 0), (3, 1, 1), (3, 2, 1))
    weights, how = case.one("bfloat16", "bfloat8_b"), case.one(None, *SHARDS)

    def compute():
        layout = {} if how is None else {"shard_layout": getattr(ttnn.TensorMemoryLayout, f"{how}_SHARDED")}
        kind = ttnn.bfloat16 if weights == "bfloat16" else ttnn.float32
        return ttnn.conv2d(
            input_tensor=case.tensor([1, side, side, inputs], "bfloat16", "ROW_MAJOR"),
            weight_tensor=ttnn.from_torch(case.data([outputs, inputs, kernel, kernel], "float32"), dtype=kind),
            device=case.device, in_channels=inputs, out_channels=outputs, batch_size=1, input_height=side, input_width=side,
            kernel_size=(kernel, kernel), stride=(stride, stride), padding=(padding, padding), dilation=(1, 1), groups=1,
            conv_config=ttnn.Conv2dConfig(weights_dtype=getattr(ttnn, weights), **layout), compute_config=case.kernels(),
            dtype=ttnn.bfloat16)
    return f"conv2d {side} {inputs} {outputs} {kernel} {stride} {padding} {weights} {how}", compute


def pool(case):
    ttnn, side, channels, kernel = case.ttnn, case.one(6, 8, 14, 16), case.one(8, 16, 32, 64, 96), case.one(2, 3, 5)
    operation, stride, padding = case.one("max", "average", "upsample"), case.one(1, 2), case.one(0, 1)
    if operation == "upsample":
        return f"upsample {side}", lambda: ttnn.upsample(case.tensor([1, side, side, 32], "bfloat16", "ROW_MAJOR"), 2)

    def compute():
        options = dict(batch_size=1, input_h=side, input_w=side, channels=channels, kernel_size=[kernel, kernel],
                       stride=[stride, stride], padding=[padding, padding],
                       input_tensor=case.tensor([1, 1, side * side, channels], "bfloat16", "ROW_MAJOR"))
        if operation == "max":
            return ttnn.max_pool2d(dilation=[1, 1], ceil_mode=case.flip(), **options)
        return ttnn.avg_pool2d(count_include_pad=case.flip(), **options)
    return f"{operation} pool {side} {channels} {kernel} {stride} {padding}", compute


def lookup(case):
    """What picks by numbers, or makes up values."""
    ttnn, torch = case.ttnn, case.torch
    match case.one("embedding", "gather", "arange", "full"):
        case "embedding":
            words, wide = case.random.randint(2, 100), case.one(32, 64, 96)
            picked = torch.randint(0, words, (2, case.one(7, 32)), generator=case.values)
            return f"embedding {words} {wide}", lambda: ttnn.embedding(
                case.put(picked, "uint32", "ROW_MAJOR"), case.tensor([words, wide], "bfloat16", "ROW_MAJOR"))
        case "gather":
            picked = torch.randint(0, 64, (1, 1, 32, 32), generator=case.values)
            return "gather", lambda: ttnn.gather(case.tensor([1, 1, 32, 64], "bfloat16"), 3, index=case.put(picked, "uint16"))
        case "arange":
            end, step = case.random.randint(1, 500), case.random.randint(1, 3)
            return f"arange {end} {step}", lambda: ttnn.arange(0, end, step, device=case.device)
    sizes = case.sizes()
    return f"full {sizes}", lambda: ttnn.full(sizes, 1.375, device=case.device, layout=ttnn.TILE_LAYOUT, dtype=ttnn.bfloat16)


def backward(case):
    operations = sorted(name for name in dir(case.ttnn) if name.endswith("_bw"))
    operation, sizes = case.one(*operations), [1, case.one(1, 2), 32 * case.one(1, 2), 32 * case.one(1, 3)]

    def compute():
        tensors = [case.tensor(sizes, "bfloat16") for _ in range(3)]
        refused = None
        for arguments in (tensors[:2], tensors, (*tensors[:2], 1.5), (*tensors[:2], 0.5, 2.0)):
            try:
                return [tensor for tensor in getattr(case.ttnn, operation)(*arguments) if tensor is not None]
            except TypeError as error:
                refused = error
        raise refused
    return f"{operation} {sizes}", compute


FAMILIES = [(unary, 20), (binary, 18), (integers, 10), (fused, 8), (ternary, 4), (reduction, 12), (movement, 18), (product, 14),
            (shared_product, 14), (cast, 10), (norm, 8), (heads, 8), (shards, 12), (convolution, 10), (pool, 8), (lookup, 6),
            (backward, 12)]


def carry_out(seed, first, count, folder):
    """Runs in a process of its own: what comes of each case is a line of JSON, its bytes are a file."""
    import torch
    import ttnn

    torch.set_num_threads(1)
    device = ttnn.open_device(device_id=0, l1_small_size=24576)
    for number in range(first, first + count):
        case = Case(ttnn, torch, device, seed, number)
        report_of(folder).write_text("")
        print(json.dumps({"begins": number, "name": case.name}), flush=True)
        try:
            results = case.compute()
            tensors = [ttnn.to_torch(result) for result in (results if isinstance(results, (list, tuple)) else [results])]
            shapes = [[str(tensor.dtype), *tensor.shape] for tensor in tensors]
            data = b"".join(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() for tensor in tensors)
            (folder / str(number)).write_bytes(data)
            outcome = {"shapes": shapes, "digest": hashlib.sha256(data).hexdigest()}
        except Exception as error:  # what ttnn refuses is an outcome like others
            outcome = {"refused": f"{type(error).__name__}: {str(error).strip().splitlines()[0][:160]}"}
        print(json.dumps({"ends": number, **outcome}), flush=True)
    ttnn.close_device(device)


def report_of(folder):
    """Where our library writes what it finds in the case that runs: mistakes, and why it hangs."""
    return folder / "report.txt"


def reason(folder, ending):
    """Why a case was lost, as far as somebody has said so."""
    lines = report_of(folder).read_text(errors="replace").splitlines()
    found = next((line for line in lines if line.startswith("tilescope: ")), None)
    return f"{ending}: {found.removeprefix('tilescope: ')}" if found else ending


def lines_of(process):
    """A queue of what a process says, with None behind the last line."""
    said = queue.Queue()

    def listen():
        for line in process.stdout:
            said.put(line)
        said.put(None)
    threading.Thread(target=listen, daemon=True).start()
    return said


def outcomes(library, options, first, count, folder):
    """Number -> name and outcome of so many cases on a library."""
    environment = {**os.environ, "TT_METAL_SIMULATOR": str(library)}
    environment.setdefault("TT_METAL_LOGGER_LEVEL", "fatal")
    environment["TILESCOPE_REPORT"] = str(report_of(folder))
    errors = folder / "errors.txt"
    found, end = {}, first + count
    while first < end:
        command = [sys.executable, __file__, "--child", str(folder), "--seed", str(options.seed), "--first", str(first),
                   "--count", str(end - first)]
        report_of(folder).write_text("")
        with errors.open("wb") as stderr:
            process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True,
                                       start_new_session=True)
        said, name, failure = lines_of(process), None, None
        try:
            while line := said.get(timeout=options.timeout):
                what = message(line)
                if "begins" in what:
                    first, name = what["begins"], what["name"]
                elif "ends" in what:
                    found[first] = (name, what)
                    first += 1
        except queue.Empty:
            failure = f"not done after {options.timeout} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        if first < end:
            ending = failure or f"the process ended ({status})"
            if name is None:
                last = errors.read_text(errors="replace").strip().splitlines()[-1:] or ["nothing was said"]
                fail(f"{library}: no case could begin, {reason(folder, ending)}; {last[0][:200]}")
            found[first] = (name, {"lost": reason(folder, ending)})
            first += 1
    return found


def fail(text):
    print(f"ttnn_random: {text}", file=sys.stderr)
    sys.exit(2)


def message(line):
    """What a line of a process says about a case; nothing if it is another's."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def difference(ours, rival, folders, number):
    """What is not the same in two outcomes of a case, if anything."""
    bytes_of = [folder / str(number) for folder in folders]
    try:
        if "lost" in ours or "lost" in rival or "refused" in ours or "refused" in rival:
            ends = [outcome.get("lost") or outcome.get("refused") or "carried out" for outcome in (ours, rival)]
            alike = "refused" in ours and "refused" in rival or "lost" in ours and "lost" in rival
            return None if alike else f"{ends[0]}; the other library: {ends[1]}"
        if ours["shapes"] != rival["shapes"]:
            return f"{ours['shapes']}; the other library: {rival['shapes']}"
        if ours["digest"] == rival["digest"]:
            return None
        one, other = (path.read_bytes() for path in bytes_of)
        places = [at for at in range(len(one)) if one[at] != other[at]]
        return f"{len(places)} of {len(one)} bytes, the first at {places[0]}, of {ours['shapes']}"
    finally:
        for path in bytes_of:
            path.unlink(missing_ok=True)


def kind_of(outcome):
    return next(kind for kind in ("refused", "lost", "digest") if kind in outcome)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rival", type=pathlib.Path, help="another library with the libttsim interface")
    parser.add_argument("--seed", type=int, default=1, help="of all cases (1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    parser.add_argument("--count", type=int, default=100, help="how many cases (100)")
    parser.add_argument("--timeout", type=int, default=240, help="seconds of one case (240)")
    parser.add_argument("--child", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first < 0 or options.count < 1 or options.timeout < 1:
        parser.error("--first is at least 0, --count and --timeout at least 1")
    missing = [name for name in ("ttnn", "torch") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: this Python has no {' and no '.join(missing)}", file=sys.stderr)
        return 77
    if options.child:
        carry_out(options.seed, options.first, options.count, options.child)
        return 0
    own = os.environ.get("TT_METAL_SIMULATOR")
    if not own:
        parser.error("set TT_METAL_SIMULATOR to the library that `tilescope sim install` wrote")
    if options.rival is None:
        parser.error("name the library to compare with: --rival OTHER.so")
    libraries = [pathlib.Path(own), options.rival]
    for library in libraries:
        if not library.is_file():
            parser.error(f"{library}: no such file")
    counts, end = collections.Counter(), options.first + options.count
    with tempfile.TemporaryDirectory() as room:
        folders = [pathlib.Path(room, name) for name in ("ours", "rival")]
        for folder in folders:
            folder.mkdir()
        for first in range(options.first, end, BATCH):
            both = [outcomes(library, options, first, min(BATCH, end - first), folder)
                    for library, folder in zip(libraries, folders)]
            for number, (name, ours) in both[0].items():
                rival = both[1][number][1]
                differs = difference(ours, rival, folders, number)
                if differs:
                    print(f"case {number}: {name}: {differs}", flush=True)
                elif "lost" in ours:
                    print(f"case {number}: {name}: on both: {ours['lost']}", flush=True)
                counts["differ" if differs else {"refused": "refused by ttnn on both", "lost": "lost on both",
                                                 "digest": "the same bits"}[kind_of(ours)]] += 1
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))
    return 1 if counts["differ"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
