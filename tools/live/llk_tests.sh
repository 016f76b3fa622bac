#!/usr/bin/env bash
# Runs the vendor's LLK tests on the device library, a few variants of each file.
#
#   export TT_METAL_SIMULATOR=DIR/libtilescope_bh.so     # from `tilescope sim install DIR`
#   tools/live/llk_tests.sh TESTS_DIR [FILE.py...]       # TESTS_DIR = .../tt-llk/tests/python_tests
#
# Wants the tests' own Python requirements and the vendor's compiler (sfpi), as their README says. Without
# files it runs those that this simulator was tried with. VARIANTS=N sets how many variants of a file run,
# spread over all it has (default 10).
set -euo pipefail
: "${TT_METAL_SIMULATOR:?set it to the library that tilescope sim install wrote}"
tests=${1:?the directory python_tests of the LLK tests}
shift
cd "$tests"
files=("$@")
if [ ${#files[@]} = 0 ]; then
    files=(test_eltwise_unary_datacopy.py test_matmul.py test_eltwise_binary.py test_reduce.py
        test_transpose_dest.py test_unpack_tilize.py test_pack_untilize.py test_risc_compute.py
        test_mailbox_read_completion.py test_dest_copy.py test_custom_mm.py
        test_tensix_sync_mop_drain.py test_fp32_dest_acc_cfg_occupancy.py test_cfg_state_flip_sync.py)
fi
python3 -c 'import pytest' || { echo "skipped: this Python has no pytest"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
for file in "${files[@]}"; do
    pytest -q --run-simulator --collect-only -m 'not quasar and not nightly and not perf and not accuracy' \
        "$file" >"$log" 2>&1 || true
    mapfile -t chosen < <(grep "^$file::" "$log" |
        awk -v wanted="${VARIANTS:-10}" '{ line[NR] = $0 }
            END { count = wanted < NR ? wanted : NR
                  for (i = 0; i < count; i++) print line[int(i * NR / count) + 1] }')
    if [ ${#chosen[@]} = 0 ]; then
        printf '%-40s nothing collected: %s\n' "$file" "$(tail -n 1 "$log")"
        status=1
        continue
    fi
    pytest -q --run-simulator --timeout=300 --tb=short "${chosen[@]}" >"$log" 2>&1 || status=1
    printf '%-40s %s\n' "$file" "$(tail -n 1 "$log")"
    grep -E '^(FAILED|ERROR)' "$log" | cut -c1-200 || true
done
exit $status
