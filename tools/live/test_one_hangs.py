"""Three tests of which one hangs, to see what `pytest --tilescope` makes of them.

  pytest --tilescope tools/live/test_one_hangs.py

Wants the wheel, ttnn and torch. One test fails, with the hang explained; the others pass, also with `-n 2`.
"""

import pytest

ttnn = pytest.importorskip("ttnn")
torch = pytest.importorskip("torch")

# Waits for a page that nobody pushes.
STARVED = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    cb_wait_front(0, 1);
}
"""


@pytest.fixture
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def on(device, values):
    return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def random():
    return torch.randn(1, 1, 64, 64).to(torch.bfloat16)


def test_relu(device):
    values = random()
    assert torch.equal(ttnn.to_torch(ttnn.relu(on(device, values))), torch.relu(values))


def test_that_hangs(device):
    tensor = on(device, random())
    corner = ttnn.CoreCoord(0, 0)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(corner, corner)])
    kernel = ttnn.KernelDescriptor(
        kernel_source=STARVED,
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        core_ranges=cores,
        compile_time_args=[],
        runtime_args=[],
        config=ttnn.WriterConfigDescriptor(),
    )
    page = ttnn.CBFormatDescriptor(buffer_index=0, data_format=ttnn.bfloat16, page_size=2048)
    buffer = ttnn.CBDescriptor(total_size=4096, core_ranges=cores, format_descriptors=[page])
    program = ttnn.ProgramDescriptor(kernels=[kernel], semaphores=[], cbs=[buffer])
    ttnn.to_torch(ttnn.generic_op([tensor, tensor], program))


def test_add(device):
    values = random()
    total = ttnn.add(on(device, values), on(device, values))
    assert torch.equal(ttnn.to_torch(total), values + values)
