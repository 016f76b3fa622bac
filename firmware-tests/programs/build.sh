#!/usr/bin/env bash
# Builds every program named in programs.list with Debian's gcc-riscv64-unknown-elf 12.2 and writes the ELFs beside their
# sources. The result depends on nothing but the sources: relative paths, no build ids, no temporary names.
#   build.sh          rebuild in place
#   build.sh --check  rebuild in a scratch folder and compare byte for byte with what is committed
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C SOURCE_DATE_EPOCH=0

CROSS=riscv64-unknown-elf-
WANTED=12.2.0
found=$("${CROSS}gcc" -dumpfullversion)
if [ "$found" != "$WANTED" ]; then
    echo "build.sh: ${CROSS}gcc is $found, the committed ELFs were made by $WANTED" >&2
    exit 2
fi

check=0
[ "${1:-}" = "--check" ] && check=1
out=.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $check = 1 ] && out=$scratch/out

# Flags that work for these cores [spec: boot-and-sync 7.4]; the DWARF carries only relative paths.
CFLAGS=(-O2 -g -gdwarf-4 -gno-record-gcc-switches -std=gnu11 -Wall -Wextra -Werror
    -march=rv32im_zicsr_zba_zbb -mabi=ilp32 -mcmodel=medlow -mno-relax -ffreestanding -fno-builtin
    -fno-delete-null-pointer-checks --param=min-pagesize=0 -fno-tree-loop-distribute-patterns -fno-asynchronous-unwind-tables -msmall-data-limit=0
    "-ffile-prefix-map=$PWD=." "-Wa,--debug-prefix-map=$PWD=." -Iinclude -Iembedded)
LDFLAGS=(-nostdlib -nostartfiles -Wl,--no-relax -Wl,--build-id=none -Wl,--no-warn-rwx-segments -Wl,-z,max-page-size=16 -Llink)

# Prints the linker symbols of one kind of program on one core.
place() { # kind core
    local i
    case $2 in brisc) i=0 ;; ncrisc) i=1 ;; trisc0) i=2 ;; trisc1) i=3 ;; trisc2) i=4 ;; *) echo "core $2?" >&2; exit 2 ;; esac
    local stack=(0xFFB01FF0 0xFFB01FF0 0xFFB00FF0 0xFFB00FF0 0xFFB00FF0)
    local rta=(0xFFB00014 0xFFB00038 0xFFB00014 0xFFB00010 0xFFB00014)
    local crta=(0xFFB00010 0xFFB00034 0xFFB00010 0xFFB0000C 0xFFB00010)
    case $1 in
    fw)
        local org=(0x3AE0 0x5CE0 0x66E0 0x70E0 0x7AE0) limit=(0x2200 0xA00 0xA00 0xA00 0xA00)
        local bss=(0xFFB00018 0xFFB0003C 0xFFB00018 0xFFB00014 0xFFB00018)
        local cbi=(0xFFB0051C 0xFFB00508 0xFFB00020 0xFFB0001C 0xFFB00020)
        local end=(0xFFB00D20 0xFFB00D10 0xFFB00820 0xFFB00020 0xFFB00820)
        local image=(0xA080 0xC080 0xE080 0xF080 0x10080)
        echo "ORG=${org[i]} TEXT_LIMIT=${limit[i]} BSS=${bss[i]} BSS_LIMIT=${cbi[i]} CBI=${cbi[i]} LDM_END=${end[i]}" \
            "IMAGE=${image[i]} STACK=${stack[i]} RTA=${rta[i]} CRTA=${crta[i]}"
        ;;
    kernel)
        local org=(0xB000 0xC000 0xD000 0xE000 0xF000)
        local ldm=(0xFFB00E00 0xFFB00E00 0xFFB00840 0xFFB00840 0xFFB00840)
        local limit=(0xFFB01A00 0xFFB01A00 0xFFB00C00 0xFFB00C00 0xFFB00C00)
        echo "ORG=${org[i]} LDM=${ldm[i]} LDM_LIMIT=${limit[i]} RTA=${rta[i]} CRTA=${crta[i]}"
        ;;
    bare)
        local org=(0x0 0x12000 0x6000 0xA000 0xE000)
        echo "ORG=${org[i]} STACK=${stack[i]}"
        ;;
    *) echo "kind $1?" >&2; exit 2 ;;
    esac
}

# Compiles one line of programs.list: kind, core, ELF, source, further -D options.
build() { # kind core elf source defines...
    local kind=$1 core=$2 elf=$3 source=$4
    shift 4
    local defines=("-DROLE_${core^^}" "$@") work=$scratch/obj syms=() s
    case $core in trisc*) defines+=("-DTHREAD=${core#trisc}") ;; esac
    for s in $(place "$kind" "$core"); do syms+=("-Wl,--defsym=$s"); done
    # -DAT=ADDRESS puts a program elsewhere than its kind.
    for s in "$@"; do case $s in -DAT=*) syms+=("-Wl,--defsym=ORG=${s#-DAT=}") ;; esac done
    mkdir -p "$work" "$(dirname "$out/$elf")"
    "${CROSS}gcc" "${CFLAGS[@]}" -c "lib/start_$kind.S" -o "$work/start.o"
    "${CROSS}gcc" "${CFLAGS[@]}" "${defines[@]}" -c "$source" -o "$work/main.o"
    "${CROSS}gcc" -march=rv32im_zicsr_zba_zbb -mabi=ilp32 "${LDFLAGS[@]}" "${syms[@]}" -T "link/$kind.ld" \
        "$work/start.o" "$work/main.o" -o "$out/$elf"
    if grep -aqF -e "$PWD" -e "$scratch" "$out/$elf"; then
        echo "build.sh: $elf contains an absolute path" >&2
        exit 1
    fi
}

count=0 differing=0
while read -r kind core elf source defines; do
    case $kind in '' | \#*) continue ;; esac
    # shellcheck disable=SC2086 # several -D options on one line
    build "$kind" "$core" "$elf" "$source" $defines
    count=$((count + 1))
    if [ $check = 1 ] && ! cmp -s "$out/$elf" "$elf"; then
        echo "differs: $elf" >&2
        differing=$((differing + 1))
    fi
done <programs.list

if [ $check = 1 ]; then
    # An ELF that no line names would never be checked.
    for elf in $(find . -name '*.elf' | sort); do
        if [ ! -e "$out/$elf" ]; then
            echo "not in programs.list: $elf" >&2
            differing=$((differing + 1))
        fi
    done
    [ $differing = 0 ] || exit 1
    echo "$count programs: identical to the committed ELFs"
else
    echo "$count programs built"
fi
