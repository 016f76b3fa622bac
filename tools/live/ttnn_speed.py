#!/usr/bin/env python3
"""Times ttnn operations on the device library, and beside them on another one.

    pip install ttnn==0.81.1 torch
    export TT_METAL_SIMULATOR=DIR/libtilescope_bh.so        # from `tilescope sim install DIR`
    tools/live/ttnn_speed.py [OPERATION...]                 # all of them without names
    tools/live/ttnn_speed.py --rival OTHER/libttsim_bh.so   # the same on another library, by turns
    tools/live/ttnn_speed.py --fast                         # fast dispatch; slow dispatch without it

Each library runs all operations in a process of its own, the libraries by turns. An operation is done once
to compile its kernels and warm all caches, then `--times` times; a figure is the least CPU time of the whole
process, the host program included, with one thread of the simulator unless TILESCOPE_THREADS says otherwise.
`open` is to open the device. With `--wall` the figures are wall-clock time.

Exit code 0, 1 if an operation failed on the first library, 2 for a wrong command, 77 without ttnn or torch.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time

LIMIT_S = 1200  # of one process
OPERATIONS = ("open add_32 add_512 mul_512 div_512 exp_512 exp_f32_512 gelu_512 softmax_512 sum_512 transpose_512 "
              "matmul_256 matmul_512 matmul_1024 softmax_32x65536 mean_rows max_pool max_pool_tiled conv_height "
              "conv_block conv_dram clone_512 concat_512 repeat_512 untilize_512 permute_rows embedding").split()


def operations(ttnn, torch, device):
    """Name -> a function that prepares inputs and gives the operation."""

    def tiles(*shape):
        return ttnn.from_torch(torch.randn(*shape).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)

    def of(operation, *shapes):
        def prepare():
            inputs = [tiles(*shape) for shape in shapes]
            return lambda: operation(*inputs)
        return prepare

    def mean_rows():
        rows = ttnn.from_torch(torch.rand(32, 64, 128).bfloat16(), device=device)
        return lambda: ttnn.mean(rows, dim=-1)

    def exp_f32():
        x = ttnn.from_torch(torch.randn(512, 512), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
        return lambda: ttnn.exp(x)

    def permute_rows():
        rows = ttnn.from_torch(torch.randn(64, 64, 128).bfloat16(), device=device)
        return lambda: ttnn.permute(rows, (1, 0, 2))

    def embedding():
        numbers = ttnn.from_torch(torch.randint(0, 512, (1, 128), dtype=torch.int32), dtype=ttnn.uint32, device=device)
        table = ttnn.from_torch(torch.randn(512, 256).bfloat16(), device=device)
        return lambda: ttnn.embedding(numbers, table)

    def max_pool(side, channels, padding, **more):
        """Of 3 by 3 over a square image, for which the device has to have room in L1."""
        def prepare():
            image = ttnn.from_torch(torch.randn(1, 1, side * side, channels).bfloat16(), device=device)
            return lambda: ttnn.max_pool2d(
                input_tensor=image, batch_size=1, input_h=side, input_w=side, channels=channels, kernel_size=[3, 3],
                stride=[1, 1], padding=[padding, padding], dilation=[1, 1],
                applied_shard_scheme=ttnn.TensorMemoryLayout.HEIGHT_SHARDED, **more)
        return prepare

    def convolution(side, inputs, outputs, shards, slices=None):
        """A kernel of 3 by 3 over a square image. With `slices` the image stays in DRAM and is done in so many."""
        def prepare():
            image = ttnn.from_torch(torch.randn(1, 1, side * side, inputs).bfloat16(), device=device)
            # As the device wants them, once the first call has laid them out.
            known = {"weights": ttnn.from_torch(torch.randn(outputs, inputs, 3, 3).bfloat16())}
            layout = getattr(ttnn.TensorMemoryLayout, shards)
            config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, shard_layout=layout)
            more = {} if slices is None else {"slice_config": ttnn.Conv2dSliceConfig(
                slice_type=ttnn.Conv2dDRAMSliceWidth, num_slices=slices)}

            def convolve():
                result, (known["weights"], _) = ttnn.conv2d(
                    input_tensor=image, weight_tensor=known["weights"], device=device, in_channels=inputs,
                    out_channels=outputs, batch_size=1, input_height=side, input_width=side, kernel_size=(3, 3),
                    stride=(1, 1), padding=(1, 1), conv_config=config, dtype=ttnn.bfloat16,
                    return_weights_and_bias=True, **more)
                return result
            return convolve
        return prepare

    square = (512, 512)
    return {
        "add_32": of(ttnn.add, (32, 32), (32, 32)),
        "add_512": of(ttnn.add, square, square),
        "mul_512": of(ttnn.multiply, square, square),
        "div_512": of(ttnn.divide, square, square),
        "exp_512": of(ttnn.exp, square),
        "exp_f32_512": exp_f32,
        "gelu_512": of(ttnn.gelu, square),
        "softmax_512": of(lambda x: ttnn.softmax(x, -1), square),
        "sum_512": of(lambda x: ttnn.sum(x, -1), square),
        "transpose_512": of(lambda x: ttnn.transpose(x, -2, -1), square),
        "matmul_256": of(ttnn.matmul, (256, 256), (256, 256)),
        "matmul_512": of(ttnn.matmul, square, square),
        "matmul_1024": of(ttnn.matmul, (1024, 1024), (1024, 1024)),
        "softmax_32x65536": of(lambda x: ttnn.softmax(x, -1), (1, 1, 32, 65536)),
        "mean_rows": mean_rows,
        "max_pool": max_pool(112, 64, 0),
        # What the vendor's test_max_pool2d_tiled_out does.
        "max_pool_tiled": max_pool(224, 320, 1, output_layout=ttnn.TILE_LAYOUT, config_tensor_in_dram=True),
        "conv_height": convolution(56, 64, 64, "HEIGHT_SHARDED"),
        "conv_block": convolution(14, 256, 256, "BLOCK_SHARDED"),
        "conv_dram": convolution(192, 32, 32, "HEIGHT_SHARDED", slices=4),
        # What only moves data.
        "clone_512": of(ttnn.clone, square),
        "concat_512": of(lambda x, y: ttnn.concat([x, y], -1), square, square),
        "repeat_512": of(lambda x: ttnn.repeat(x, (2, 1)), square),
        "untilize_512": of(lambda x: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), square),
        "permute_rows": permute_rows,
        "embedding": embedding,
    }


def measure(names, times, wall):
    """Runs in a process of its own: prints a line of JSON per operation."""
    import torch
    import ttnn

    clock = time.perf_counter if wall else time.process_time
    torch.manual_seed(7)
    torch.set_num_threads(1)
    begun = clock()
    device = ttnn.open_device(device_id=0, l1_small_size=24576)
    print(json.dumps({"operation": "open", "seconds": clock() - begun}), flush=True)
    table = operations(ttnn, torch, device)
    for name in names:
        if name == "open":
            continue
        try:
            operation = table[name]()
            operation()
            ttnn.synchronize_device(device)
            least = float("inf")
            for _ in range(times):
                begun = clock()
                operation()
                ttnn.synchronize_device(device)
                least = min(least, clock() - begun)
            print(json.dumps({"operation": name, "seconds": least}), flush=True)
        except Exception as error:  # an operation that cannot be built here is no reason to stop
            print(json.dumps({"operation": name, "error": str(error).splitlines()[0][:200]}), flush=True)
    ttnn.close_device(device)


def run(library, options):
    """The seconds of each operation on a library; what went wrong is told."""
    environment = {**os.environ, "TT_METAL_SIMULATOR": str(library)}
    environment.setdefault("TILESCOPE_THREADS", "1")
    environment.setdefault("TT_METAL_LOGGER_LEVEL", "fatal")
    environment.pop("TT_METAL_SLOW_DISPATCH_MODE", None)
    if not options.fast:
        environment["TT_METAL_SLOW_DISPATCH_MODE"] = "1"
    command = [sys.executable, __file__, "--child", "--times", str(options.times), *options.operation]
    if options.wall:
        command.append("--wall")
    figures = {}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
        text, end = done.stdout, f"exit code {done.returncode}" if done.returncode else None
    except subprocess.TimeoutExpired as late:
        text, end = (late.stdout or b"").decode(errors="replace"), f"not done after {LIMIT_S} s"
    for line in text.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if not isinstance(said, dict) or "operation" not in said:
            continue
        if "error" in said:
            print(f"ttnn_speed: {library}: {said['operation']}: {said['error']}", file=sys.stderr)
        else:
            figures[said["operation"]] = said["seconds"]
    if end is not None:
        print(f"ttnn_speed: {library}: {end}", file=sys.stderr)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operation", nargs="*", help=f"of: {', '.join(OPERATIONS)}")
    parser.add_argument("--rival", type=pathlib.Path, help="another library with the libttsim interface")
    parser.add_argument("--fast", action="store_true", help="fast dispatch")
    parser.add_argument("--wall", action="store_true", help="wall-clock instead of CPU time")
    parser.add_argument("--times", type=int, default=5, help="how often a warm operation is done (5)")
    parser.add_argument("--rounds", type=int, default=2, help="processes of each library, by turns (2)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = [name for name in options.operation if name not in OPERATIONS]
    if unknown:
        parser.error(f"no operation {', '.join(unknown)}; there are: {', '.join(OPERATIONS)}")
    if min(options.times, options.rounds) < 1:
        parser.error("--times and --rounds are at least 1")
    missing = [name for name in ("ttnn", "torch") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: this Python has no {' and no '.join(missing)}", file=sys.stderr)
        return 77
    options.operation = options.operation or list(OPERATIONS)
    if options.child:
        measure(options.operation, options.times, options.wall)
        return 0
    own = os.environ.get("TT_METAL_SIMULATOR")
    if not own:
        parser.error("set TT_METAL_SIMULATOR to the library that `tilescope sim install` wrote")
    libraries = [pathlib.Path(own)] + ([options.rival] if options.rival else [])
    for library in libraries:
        if not library.is_file():
            parser.error(f"{library}: no such file")
    least = [{} for _ in libraries]
    for _ in range(options.rounds):
        for figures, library in zip(least, libraries):
            for name, seconds in run(library, options).items():
                figures[name] = min(seconds, figures.get(name, seconds))
    what = "wall clock" if options.wall else "CPU time"
    heads = ["ours, ms"] + (["rival, ms", "times"] if options.rival else [])
    print(f"{what}, {'fast' if options.fast else 'slow'} dispatch")
    print("".join([f"{'operation':20}", *(f"{head:>12}" for head in heads)]))
    for name in options.operation:
        values = [figures.get(name) for figures in least]
        cells = ["-" if value is None else f"{1e3 * value:.1f}" for value in values]
        if options.rival:
            cells.append("-" if None in values else f"{values[1] / values[0]:.2f}")
        print("".join([f"{name:20}", *(f"{cell:>12}" for cell in cells)]))
    return 0 if all(name in least[0] for name in options.operation) else 1


if __name__ == "__main__":
    sys.exit(main())
