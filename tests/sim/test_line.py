"""Programs that wait for the interrupt line themselves, and polls of some bits, on both back ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import CheckFile, LineWait, MemInit, MemLoad, Op, Poll, RegRead, RegWrite, SyncNotify
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.jobs import run_job
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings
from nvdla_tb.stimulus.trace.data import read_data
from tests.sim.conftest import ICARUS, NATIVE, job_of, played, setup_of
from tests.unit.nvdla.samples import SMALL, small_sdp

STATUS = "GLB.S_INTR_STATUS"
SOURCE, DESTINATION, NBYTES = 0x1000, 0x2000, 32
DATA = np.random.default_rng(2).integers(-100, 100, NBYTES, dtype=np.int8).tobytes()
LAYER = (
    MemLoad(Ram.MC, SOURCE, ((0, DATA),), "in.dat"),
    MemInit(Ram.MC, DESTINATION, NBYTES),
    *(op for op in encode(small_sdp((3, 2, 2), SOURCE, DESTINATION), SMALL, 0, "done") if isinstance(op, RegWrite)),
)
SERVED = (LineWait(), Poll(STATUS, 1, mask=1), RegWrite(STATUS, 0xFFFFFFFF), Poll(STATUS, 0, mask=1))
COMPARED = (
    CheckFile("end", Ram.MC, DESTINATION, NBYTES, ((0, DATA),), "out.dat"),
    SyncNotify("GLB", "end"),
)
SETTINGS = BenchSettings(serve_interrupts=False, hang_cycles=2000, poll_deadline_cycles=300)


@pytest.fixture(scope="module", params=[NATIVE, ICARUS])
def device(request: pytest.FixtureRequest) -> Built:
    simulator, backend = request.param
    return build(BuildSpec(HwConfig.load("nv_small"), simulator, backend=backend))


def scenario(*ops: Op, settings: BenchSettings = SETTINGS) -> Scenario:
    return Scenario("line", "nv_small", ops, 1, settings)


def test_a_layer_whose_interrupt_the_program_waits_for_and_clears_passes(device: Built, tmp_path: Path) -> None:
    job = replace(job_of(scenario(*LAYER, *SERVED, *COMPARED)), dumps=tmp_path / "dumps")
    (tmp_path / "dumps").mkdir()
    result = run_job(job, setup_of(device), tmp_path / "run")
    assert complaints(result.verdict) == []
    assert (result.ending, result.verdict.judged_bytes, result.verdict.crc_passed) == (Ending.PASSED, NBYTES, 1)
    assert result.verdict.registers == 2
    found = {path.name: read_data(path) for path in (tmp_path / "dumps").iterdir()}
    assert found == {
        "001_MC_2000.dat": ((0, DATA),),
        "end_MC_1000.dat": ((0, DATA),),
        "end_MC_2000.dat": ((0, DATA),),
    }


def test_a_wait_for_a_line_that_stays_low_is_a_hang(device: Built, tmp_path: Path) -> None:
    result = played(device, tmp_path / "run", scenario(*LAYER, *SERVED, LineWait()))
    assert result.ending is Ending.HANG
    (said,) = complaints(result.verdict)
    assert said.splitlines()[1:] == ["  waiting for dla_intr to be high", "  every unit's S_STATUS is IDLE"]


def test_the_program_goes_on_after_a_failed_poll_where_its_settings_say_so(device: Built, tmp_path: Path) -> None:
    reads = (RegRead(STATUS, 0), Poll(STATUS, 4, mask=4), Poll(STATUS, 2, mask=6), RegRead(STATUS, 0))
    settings = msgspec.structs.replace(SETTINGS, continue_on_fail=True)
    result = played(device, tmp_path / "run", scenario(*reads, *LAYER, *SERVED, settings=settings))
    assert complaints(result.verdict) == [
        f"poll of {STATUS} & 0x4 for equal 0x4 still reads 0x0 after 300 cycles",
        f"poll of {STATUS} & 0x6 for equal 0x2 still reads 0x0 after 300 cycles",
    ]
    assert (result.verdict.judged_bytes, result.verdict.registers) == (NBYTES, 4)
