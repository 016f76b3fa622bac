#!/usr/bin/env python3
"""Generates the instruction-level suites: expected values come from qemu-riscv32, which runs the very instruction words.

usage: generate.py [--check]     write (or compare) one JSON file per extension beside this script
needs: gcc-riscv64-unknown-elf, qemu-user; see README.md for the versions of the committed files.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import ops

HERE = os.path.dirname(os.path.abspath(__file__))
CROSS = "riscv64-unknown-elf-"
CPU = "rv32,zba=true,zbb=true,zbkb=true,Zfh=true"
MEMORY_BYTES = 64
MEMORY = bytes((37 * i + 11) & 0xFF for i in range(MEMORY_BYTES))
RECORD_WORDS = 4 + MEMORY_BYTES // 4  # x result, f result, fcsr, landing, memory
ROW_WORDS = 6  # snippet, x11 / f11, x12 / f12, x13 / f13, fcsr, relocation of x11
RELOCATE = {"x11-memory": 1, "x11-pc": 2, "word": 3}

PROLOGUE = """
    .option norelax
    .option arch, +a, +f, +zfh, +zba, +zbb, +zbkb
    .globl _start
_start:
    la x20, rows
    la x21, rows_end
    la x22, results
next:
    bgeu x20, x21, finish
    la x5, memory
    la x6, memory_init
    addi x7, x5, 64
1:  lw x8, 0(x6)
    sw x8, 0(x5)
    addi x5, x5, 4
    addi x6, x6, 4
    bltu x5, x7, 1b
    la x23, memory
    lw x24, 0(x20)
    lw x11, 4(x20)
    lw x12, 8(x20)
    lw x13, 12(x20)
    fmv.w.x f11, x11
    fmv.w.x f12, x12
    fmv.w.x f13, x13
    lw x5, 16(x20)
    lw x6, 20(x20)
    li x7, 1
    bne x6, x7, 2f
    add x11, x11, x23
2:  li x7, 2
    bne x6, x7, 3f
    add x11, x11, x24
3:  li x7, 3
    bne x6, x7, 4f
    sw x11, 0(x23)
    mv x11, x23
4:  li x10, 0xDEAD0000
    fmv.w.x f10, x10
    li x14, 0
    csrw fcsr, x5
    jr x24
done:
    csrr x5, fcsr
    fmv.x.w x6, f10
    sw x10, 0(x22)
    sw x6, 4(x22)
    sw x5, 8(x22)
    sw x14, 12(x22)
    addi x22, x22, 16
    la x5, memory
    addi x7, x5, 64
5:  lw x8, 0(x5)
    sw x8, 0(x22)
    addi x5, x5, 4
    addi x22, x22, 4
    bltu x5, x7, 5b
    addi x20, x20, 24
    j next
finish:
    li x10, 1
    la x11, results
    sub x12, x22, x11
    li x17, 64
6:  ecall                   # write(1, results, size); may be partial
    sub x12, x12, x10
    add x11, x11, x10
    li x10, 1
    bnez x12, 6b
    li x10, 0
    li x17, 93
    ecall
"""


def snippet(index, form):
    """One instruction at label s<index>, its way out, and what a branch or jump may land on (x14 = offset landed at)."""
    label, asm = f"s{index}", form.asm
    out = "x11" if form.out.startswith("x11") else "x12" if form.out.startswith("x12") else None
    fix = f"    mv x10, {out}\n" if out else ""
    if form.kind == "branch":
        asm = asm.replace("forward", f"f{index}").replace("backward", f"b{index}")
        return (f"b{index}:\n    li x10, 1\n    j done\n{label}:\n    {asm}\n    li x10, 0\n    j done\n"
                f"f{index}:\n    li x10, 1\n    j done\n")
    if form.kind == "jump":
        asm = asm.replace("rung", f"r{index}_")
        rungs = "".join(f"r{index}_{n}:\n    li x14, {4 + 8 * n}\n    j e{index}\n" for n in range(8))
        return f"{label}:\n    {asm}\n{rungs}e{index}:\n{fix}    j done\n"
    return f"{label}:\n    {asm}\n{fix}    j done\n"


def row_words(form, row):
    regs, fcsr, relocation = {"11": 0, "12": 0, "13": 0}, 0, 0
    for name, value in zip(form.ins, row):
        relocation = RELOCATE.get(name, relocation)
        if name == "fcsr":
            fcsr = value
        elif name == "word":
            regs["11"] = value
        else:
            regs[name[1:3]] = value
    # f and x registers of one number share the word, except where x11 is an address and f12 is data.
    return [regs["11"], regs["12"], regs["13"], fcsr, relocation]


def assemble(forms, folder):
    text = [PROLOGUE] + [snippet(i, f) for i, f in enumerate(forms)]
    text.append("    .data\n    .balign 4\nrows:\n")
    for i, form in enumerate(forms):
        for row in form.rows:
            text.append(f"    .word s{i}, " + ", ".join(hex(w & 0xFFFFFFFF) for w in row_words(form, row)) + "\n")
    text.append("rows_end:\nmemory_init:\n    .byte " + ", ".join(map(str, MEMORY)) + "\n    .bss\n    .balign 16\nmemory: .zero 64\n")
    text.append(f"results: .zero {4 * RECORD_WORDS * sum(len(f.rows) for f in forms)}\n")
    source, elf = os.path.join(folder, "suite.S"), os.path.join(folder, "suite")
    with open(source, "w") as out:
        out.write("".join(text))
    subprocess.run([CROSS + "gcc", "-march=rv32imaf_zicsr", "-mabi=ilp32", "-nostdlib", "-static", "-Wl,--build-id=none",
                    "-Wl,--no-relax", source, "-o", elf], check=True)
    return elf


def instruction_words(elf, count):
    """The word at each snippet label."""
    symbols = {}
    for line in subprocess.run([CROSS + "nm", elf], check=True, capture_output=True, text=True).stdout.splitlines():
        value, _, name = line.split()
        symbols[name] = int(value, 16)
    data = open(elf, "rb").read()
    offset, = struct.unpack_from("<I", data, 28)
    number, = struct.unpack_from("<H", data, 44)
    loads = [struct.unpack_from("<8I", data, offset + 32 * i) for i in range(number)]
    words = []
    for i in range(count):
        address = symbols[f"s{i}"]
        for kind, off, vaddr, _, filesz, *_ in loads:
            if kind == 1 and vaddr <= address < vaddr + filesz:
                words.append(struct.unpack_from("<I", data, off + address - vaddr)[0])
    return words, symbols


def result_fields(form, record, symbol, memory):
    x, f, fcsr, landing = record[:4]
    fields = []
    for what in form.out.split():
        if what in ("x10", "x11", "x12", "taken"):
            fields.append(x)
        elif what in ("x10-pc", "x11-pc"):
            fields.append((x - symbol) & 0xFFFFFFFF)
        elif what == "landing":
            fields.append(landing)
        elif what == "f10":
            fields.append(f)
        elif what == "fcsr":
            fields.append(fcsr)
        elif what == "word":
            fields.append(record[4])
    text = [f"{v:08x}" for v in fields]
    if form.out == "memory":
        # First changed word and its new value; stores change one aligned word.
        after = struct.pack("<16I", *record[4:])
        at = [i for i in range(0, MEMORY_BYTES, 4) if after[i:i + 4] != memory[i:i + 4]]
        word = at[0] if at else 0
        text = [f"{word:08x}", f"{struct.unpack_from('<I', after, word)[0]:08x}"]
        assert len(at) <= 1
    if form.flags:
        text.append(f"{fcsr & 0x1F:02x}")
    return text, fields


def is_subnormal(value, half):
    if half:
        return (value & 0x7C00) == 0 and (value & 0x3FF) != 0
    return (value & 0x7F800000) == 0 and (value & 0x7FFFFF) != 0


def group_of(form, row, fields, flags):
    """Which list a row belongs to; see README.md."""
    name = form.asm.split()[0]
    if not form.flags:
        return "rows"
    half, half_in = name.endswith(".h") or ".h." in name, name.endswith(".h")
    floats_in = [v for n, v in zip(form.ins, row) if n.startswith("f")]
    floats_out = fields if form.out == "f10" else []
    out_half = name.split(".")[1] == "h"
    if any(is_subnormal(v, half_in) for v in floats_in) or any(is_subnormal(v, out_half) for v in floats_out) or flags & 2:
        return "subnormal"
    if name.startswith(("fmadd", "fmsub", "fnmadd", "fnmsub")):
        bits, bias, fraction = (10, 15, 0x3FF) if half else (23, 127, 0x7FFFFF)
        top = (1 << (5 if half else 8)) - 1
        low = (1 << (bits - (bits + 1) // 2 + 1)) - 1
        exponents = [v >> bits & top for v in floats_in[:2]]
        exact = all((v & fraction & low) == 0 and 0 < e < top for v, e in zip(floats_in, exponents))
        if not exact or not 0 < exponents[0] + exponents[1] - bias < top - 1:
            return "partly_fused"
    return "rows"


def run_suite(name, folder):
    forms = ops.build(name)
    elf = assemble(forms, folder)
    words, symbols = instruction_words(elf, len(forms))
    output = subprocess.run(["qemu-riscv32", "-cpu", CPU, elf], check=True, capture_output=True).stdout
    total = sum(len(f.rows) for f in forms)
    assert len(output) == 4 * RECORD_WORDS * total, (len(output), total)
    entries, position = [], 0
    for index, form in enumerate(forms):
        groups = {"rows": [], "subnormal": [], "partly_fused": []}
        for row in form.rows:
            record = struct.unpack_from(f"<{RECORD_WORDS}I", output, position)
            position += 4 * RECORD_WORDS
            text, fields = result_fields(form, record, symbols[f"s{index}"], MEMORY)
            inputs = [f"{v & 0xFFFFFFFF:08x}" for v in row]
            groups[group_of(form, row, fields, record[2])].append(" ".join(inputs + text))
        entry = {"asm": form.asm, "word": f"{words[index]:08x}", "in": form.ins, "out": form.out.split()}
        if form.out == "memory":
            entry["out"] = ["memory_offset", "memory_word"]
        if form.flags:
            entry["out"] = entry["out"] + ["fflags"]
        for key, rows in groups.items():
            if rows:
                entry[key] = sorted(set(rows), key=rows.index)
        entries.append(entry)
    return {"format": 1, "suite": name, "seed": ops.SEED, "memory_init": MEMORY.hex(), "forms": entries}


def dump(suite):
    """JSON with one row per line is too long, one form per line too wide: a form's head and each list take a line."""
    head = {k: v for k, v in suite.items() if k != "forms"}
    lines = ["{" + json.dumps(head)[1:-1] + ', "forms": [']
    for i, form in enumerate(suite["forms"]):
        lines.append(json.dumps(form, separators=(",", ":")) + ("," if i + 1 < len(suite["forms"]) else ""))
    return "\n".join(lines + ["]}"]) + "\n"


def main():
    check, bad = "--check" in sys.argv[1:], 0
    for name in ops.SUITES:
        with tempfile.TemporaryDirectory() as folder:
            text = dump(run_suite(name, folder))
        path = os.path.join(HERE, name + ".json")
        if check:
            same = os.path.exists(path) and open(path).read() == text
            bad += not same
            print(name, "same" if same else "DIFFERS")
        else:
            with open(path, "w") as out:
                out.write(text)
            suite = json.loads(text)
            print(name, len(suite["forms"]), "forms,", sum(len(f.get(k, [])) for f in suite["forms"] for k in ("rows", "subnormal", "partly_fused")), "rows,", len(text), "bytes")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
