#!/usr/bin/env python3
"""Runs ttnn operations on the device library, one process each, and checks them against torch.

    pip install ttnn==0.81.1 torch
    export TT_METAL_SIMULATOR=DIR/libtilescope_bh.so        # from `tilescope sim install DIR`
    tools/live/ttnn_ops.py [OPERATION...]                   # all of them without names

Kernels are compiled while it runs: ttnn wants the vendor's compiler (sfpi) for that. Each operation is
done twice, the second time with the kernels the first one compiled, and gives one line: how far off
the result is, and the seconds of the second time. Exit code 1 when any is wrong, 77 ("skipped")
without ttnn or torch.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import time

LIMIT_S = 300  # of one operation's process
OPERATIONS = (
    "copy_rows copy_tiles full zeros add add_row add_column add_bfp8 sub mul_bfp8 matmul matmul_256 matmul_bfp8 "
    "linear tilize untilize transpose permute reshape concat sum sum_rows mean argmax "
    "add_scalar sub_row add_bfp4 add_sharded matmul_batch matmul_transposed matmul_f32 matmul_lofi matmul_f32_dst "
    "typecast_bfp8 typecast_f32 slice slice_rows pad repeat concat_columns split tilize_padded untilize_unpadded "
    "transpose_planes permute_rows shard_height shard_block embedding gather upsample max_pool heads mean_rows argmax_all"
).split()


def operations(ttnn, torch, device):
    """Name -> (what the device computes, what torch computes, tolerance relative to the largest value).

    Both take no arguments; tolerance 0 means bit for bit.
    """
    random = torch.Generator().manual_seed(7)
    tile, rows = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT

    def normal(*shape, dtype=torch.bfloat16):
        return torch.randn(*shape, generator=random).to(dtype)

    def put(tensor, layout=tile, dtype=ttnn.bfloat16):
        return ttnn.from_torch(tensor, dtype=dtype, layout=layout, device=device)

    a, b = normal(64, 64), normal(64, 64)
    wide, big, big2 = normal(1, 1, 64, 96), normal(256, 256), normal(256, 256)
    halves = normal(1, 2, 32, 64)
    row, column = normal(1, 1, 1, 96), normal(1, 1, 64, 1)
    product = lambda x, y: x.float() @ y.float()
    small = lambda x: put(x, dtype=ttnn.bfloat8_b)
    tiny = lambda x: put(x, dtype=ttnn.bfloat4_b)
    f32 = lambda x: put(x.float(), dtype=ttnn.float32)
    integers = lambda x, layout, dtype: ttnn.from_torch(x, dtype=dtype, layout=layout, device=device)
    tall, batch, batch2, planes = normal(1, 1, 128, 96), normal(2, 3, 64, 32), normal(2, 3, 32, 96), normal(2, 3, 40, 50)
    words, picked = torch.randint(0, 128, (1, 64), generator=random), torch.randint(0, 64, (64, 64), generator=random)
    vocabulary, image, heads = normal(128, 64), normal(1, 8, 8, 32), normal(1, 4, 32, 32)
    channels_first = lambda x: x.permute(0, 3, 1, 2).float()

    def sharded(x, y_cores, x_cores, strategy):
        grid = ttnn.CoreGrid(y=y_cores, x=x_cores)
        return ttnn.interleaved_to_sharded(put(x), ttnn.create_sharded_memory_config(tuple(x.shape), grid, strategy))

    blocks = lambda x: sharded(x, 4, 4, ttnn.ShardStrategy.BLOCK)
    kernels = lambda **options: ttnn.WormholeComputeKernelConfig(**options)
    low = kernels(math_fidelity=ttnn.MathFidelity.LoFi)
    high = kernels(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True, packer_l1_acc=True)
    table = {
        "copy_rows": (lambda: put(a, rows), lambda: a, 0),
        "copy_tiles": (lambda: put(a), lambda: a, 0),
        "full": (lambda: ttnn.full((64, 64), 3.5, dtype=ttnn.bfloat16, layout=tile, device=device),
                 lambda: torch.full((64, 64), 3.5), 0),
        "zeros": (lambda: ttnn.zeros((64, 64), dtype=ttnn.bfloat16, layout=tile, device=device),
                  lambda: torch.zeros(64, 64), 0),
        "add": (lambda: ttnn.add(put(a), put(b)), lambda: a + b, 0.02),
        "add_row": (lambda: ttnn.add(put(wide), put(row)), lambda: wide + row, 0.02),
        "add_column": (lambda: ttnn.add(put(wide), put(column)), lambda: wide + column, 0.02),
        "add_bfp8": (lambda: ttnn.add(small(a), small(b)), lambda: a + b, 0.03),
        "sub": (lambda: ttnn.subtract(put(a), put(b)), lambda: a - b, 0.02),
        "mul_bfp8": (lambda: ttnn.multiply(small(a), small(b)), lambda: a * b, 0.03),
        "matmul": (lambda: ttnn.matmul(put(a), put(b)), lambda: product(a, b), 0.03),
        "matmul_256": (lambda: ttnn.matmul(put(big), put(big2)), lambda: product(big, big2), 0.03),
        "matmul_bfp8": (lambda: ttnn.matmul(small(a), small(b)), lambda: product(a, b), 0.05),
        "linear": (lambda: ttnn.linear(put(a), put(b), bias=put(normal(1, 64) * 0)), lambda: product(a, b), 0.03),
        "tilize": (lambda: ttnn.tilize(put(a, rows)), lambda: a, 0),
        "untilize": (lambda: ttnn.untilize(put(a)), lambda: a, 0),
        "transpose": (lambda: ttnn.transpose(put(wide), -2, -1), lambda: wide.transpose(-2, -1), 0),
        "permute": (lambda: ttnn.permute(put(halves), (0, 2, 1, 3)), lambda: halves.permute(0, 2, 1, 3), 0),
        "reshape": (lambda: ttnn.reshape(put(wide), (1, 1, 96, 64)), lambda: wide.reshape(1, 1, 96, 64), 0),
        "concat": (lambda: ttnn.concat([put(a), put(b)], dim=0), lambda: torch.cat([a, b]), 0),
        "sum": (lambda: ttnn.sum(put(wide), dim=-1), lambda: wide.float().sum(-1), 0.03),
        "sum_rows": (lambda: ttnn.sum(put(wide), dim=-2), lambda: wide.float().sum(-2), 0.03),
        "mean": (lambda: ttnn.mean(put(wide), dim=-1), lambda: wide.float().mean(-1), 0.03),
        "argmax": (lambda: ttnn.argmax(put(wide, rows), dim=-1), lambda: wide.float().argmax(-1), 0),
        "add_scalar": (lambda: ttnn.add(put(a), 2.5), lambda: a + 2.5, 0.02),
        "sub_row": (lambda: ttnn.subtract(put(wide), put(row)), lambda: wide - row, 0.02),
        "add_bfp4": (lambda: ttnn.add(tiny(a), tiny(b)), lambda: a + b, 0.3),
        "add_sharded": (lambda: ttnn.add(blocks(big), blocks(big2)), lambda: big + big2, 0.02),
        "matmul_batch": (lambda: ttnn.matmul(put(batch), put(batch2)), lambda: product(batch, batch2), 0.03),
        "matmul_transposed": (lambda: ttnn.matmul(put(a), put(b), transpose_b=True), lambda: product(a, b.T), 0.03),
        "matmul_f32": (lambda: ttnn.matmul(f32(a), f32(b)), lambda: product(a, b), 0.02),
        "matmul_lofi": (lambda: ttnn.matmul(put(a), put(b), compute_kernel_config=low), lambda: product(a, b), 0.1),
        "matmul_f32_dst": (lambda: ttnn.matmul(put(a), put(b), compute_kernel_config=high), lambda: product(a, b), 0.02),
        "typecast_bfp8": (lambda: ttnn.typecast(put(a), ttnn.bfloat8_b), lambda: a, 0.03),
        "typecast_f32": (lambda: ttnn.typecast(put(a), ttnn.float32), lambda: a, 0),
        "slice": (lambda: ttnn.slice(put(tall), [0, 0, 32, 32], [1, 1, 96, 96]), lambda: tall[:, :, 32:96, 32:], 0),
        "slice_rows": (lambda: ttnn.slice(put(tall, rows), [0, 0, 3, 0], [1, 1, 77, 96]), lambda: tall[:, :, 3:77], 0),
        "pad": (lambda: ttnn.pad(put(a), [(0, 32), (0, 32)], 1.5),
                lambda: torch.nn.functional.pad(a, (0, 32, 0, 32), value=1.5), 0),
        "repeat": (lambda: ttnn.repeat(put(a, rows), (2, 1)), lambda: a.repeat(2, 1), 0),
        "concat_columns": (lambda: ttnn.concat([put(a), put(b)], dim=1), lambda: torch.cat([a, b], 1), 0),
        "split": (lambda: ttnn.split(put(wide), 32, dim=-1)[1], lambda: wide[..., 32:64], 0),
        "tilize_padded": (lambda: ttnn.tilize_with_val_padding(put(planes, rows), (2, 3, 64, 64), 0.0), lambda: planes, 0),
        "untilize_unpadded": (lambda: ttnn.untilize_with_unpadding(put(tall), [0, 0, 99, 90]),
                              lambda: tall[:, :, :100, :91], 0),
        "transpose_planes": (lambda: ttnn.transpose(put(batch), 1, 2), lambda: batch.transpose(1, 2), 0),
        "permute_rows": (lambda: ttnn.permute(put(batch, rows), (3, 0, 2, 1)), lambda: batch.permute(3, 0, 2, 1), 0),
        "shard_height": (lambda: ttnn.sharded_to_interleaved(sharded(big, 2, 4, ttnn.ShardStrategy.HEIGHT)),
                         lambda: big, 0),
        "shard_block": (lambda: ttnn.sharded_to_interleaved(blocks(big)), lambda: big, 0),
        "embedding": (lambda: ttnn.embedding(integers(words, rows, ttnn.uint32), put(vocabulary, rows)),
                      lambda: torch.nn.functional.embedding(words, vocabulary), 0),
        "gather": (lambda: ttnn.gather(put(a), -1, index=integers(picked, tile, ttnn.uint16)),
                   lambda: torch.gather(a, -1, picked), 0),
        "upsample": (lambda: ttnn.upsample(put(image, rows), 2),
                     lambda: image.repeat_interleave(2, 1).repeat_interleave(2, 2), 0),
        "max_pool": (lambda: ttnn.max_pool2d(put(image.reshape(1, 1, 64, 32), rows), 1, 8, 8, 32, [2, 2], [2, 2], [0, 0], [1, 1]),
                     lambda: torch.nn.functional.max_pool2d(channels_first(image), 2).permute(0, 2, 3, 1), 0),
        "heads": (lambda: ttnn.transformer.concatenate_heads(put(heads)),
                  lambda: heads.permute(0, 2, 1, 3).reshape(1, 32, 128), 0),
        "mean_rows": (lambda: ttnn.mean(put(wide), dim=-2), lambda: wide.float().mean(-2), 0.03),
        "argmax_all": (lambda: ttnn.argmax(put(wide, rows)), lambda: wide.float().argmax(), 0),
    }
    assert list(table) == OPERATIONS
    return table


def compare(got, wanted, tolerance):
    """Gives (whether it is right, a text that says how far off it is)."""
    got, wanted = got.float().flatten(), wanted.float().flatten()
    if got.numel() != wanted.numel():
        return False, f"{got.numel()} values instead of {wanted.numel()}"
    error, scale = (got - wanted).abs().max().item(), wanted.abs().max().item()
    return error <= tolerance * max(scale, 1e-6), f"off by {error:.3g} of {scale:.3g}"


def one(name):
    """In a process of its own: opens the device, does one operation twice, closes it."""
    import torch
    import ttnn

    begun = time.monotonic()
    device = ttnn.open_device(device_id=0, l1_small_size=24576)  # max_pool wants some
    opened = time.monotonic() - begun
    device_side, torch_side, tolerance = operations(ttnn, torch, device)[name]
    right, text, seconds = True, "", 0.0
    for _ in range(2):
        begun = time.monotonic()
        result = ttnn.to_torch(device_side())
        seconds = time.monotonic() - begun
        good, text = compare(result, torch_side(), tolerance)
        right &= good
    ttnn.close_device(device)
    print(f"RESULT {'ok  ' if right else 'BAD '} {name:12} {text}; open {opened:.2f} s, again {seconds:.2f} s")
    return 0 if right else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operation", nargs="*", help="names; all without any: " + ", ".join(OPERATIONS))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = [name for name in options.operation if name not in OPERATIONS]
    if unknown:
        parser.error(f"no operation {unknown[0]}; there are {', '.join(OPERATIONS)}")
    missing = [module for module in ("ttnn", "torch") if importlib.util.find_spec(module) is None]
    if missing:
        print(f"skipped: this Python has no {' and no '.join(missing)}")
        return 77
    if not os.environ.get("TT_METAL_SIMULATOR"):
        print("set TT_METAL_SIMULATOR to the library that `tilescope sim install DIR` wrote", file=sys.stderr)
        return 2
    os.environ.setdefault("TT_METAL_SLOW_DISPATCH_MODE", "1")
    if options.one:
        return one(options.one)
    wrong = 0
    for name in options.operation or OPERATIONS:
        command = [sys.executable, __file__, "--one", name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
            output, code = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            output, code = f"no end after {LIMIT_S} s", 1
        lines = [line[7:] for line in output.splitlines() if line.startswith("RESULT ")]
        print(lines[0] if lines else f"BAD  {name:12} " + " / ".join(output.splitlines()[-3:])[-300:], flush=True)
        wrong += code != 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
