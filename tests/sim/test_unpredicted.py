"""Programs that the model refuses: golden results judge what the device writes, with an ending of their own."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.cli.main import main
from nvdla_tb.judge.text import complaints, why_not_passed
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import CheckCrc, CheckFile, MemLoad, Op, RegWrite
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.jobs import run_job
from nvdla_tb.run.task import trace_job
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace import write
from tests.sim.conftest import planned, setup_of

CONFIG = HwConfig.load("nv_small")
PREDICTED = planned("sdp_pass_through_full_atom", 2)
(WRITTEN,) = play_model(PREDICTED, CONFIG).expectations
OUTPUT = WRITTEN.data.tobytes()
DONE = next(op.sync_id for op in PREDICTED.ops if hasattr(op, "sync_id"))
REASON = "SDP.D_FEATURE_MODE_CFG.batch_number must be 0, not 1: batches from memory are not modelled"
BATCHES = "SDP.D_FEATURE_MODE_CFG"


def refused(*checks: Op) -> Scenario:
    """Return a scenario with a field that the model refuses and nv_small ignores, and with golden results."""
    ops = [
        replace(op, value=op.value | 1 << 8) if isinstance(op, RegWrite) and op.register == BATCHES else op
        for op in PREDICTED.ops
        if not hasattr(op, "crc")
    ]
    return replace(PREDICTED, ops=(*ops, *checks))


def golden(data: bytes = OUTPUT, nbytes: int = len(OUTPUT)) -> CheckFile:
    return CheckFile(DONE, Ram.MC, WRITTEN.address, nbytes, ((0, data),), "golden.dat")


def play(model: Built, folder: Path, scenario: Scenario) -> Result:
    path = write(scenario, folder / "trace")
    return run_job(trace_job(path, CONFIG, "rerun"), setup_of(model), folder / "run")


@pytest.mark.parametrize(
    "check", [golden(), CheckCrc(DONE, Ram.MC, WRITTEN.address, len(OUTPUT), zlib.crc32(OUTPUT))], ids=["file", "crc"]
)
def test_equal_golden_bytes_are_an_ending_of_their_own(model: Built, tmp_path: Path, check: Op) -> None:
    result = play(model, tmp_path, refused(check))
    assert result.ending is Ending.GOLDEN
    assert why_not_passed(result.verdict) == [f"golden equal; not predicted, because {REASON}"]
    assert (result.verdict.crc_passed, result.verdict.golden_bytes) == (1, len(OUTPUT))


def test_golden_bytes_that_differ_fail_with_the_reason_why_nothing_is_predicted(model: Built, tmp_path: Path) -> None:
    result = play(model, tmp_path, refused(golden(bytes([OUTPUT[0] ^ 1]) + OUTPUT[1:])))
    assert result.ending is Ending.MISMATCH
    where = f"golden.dat: address {WRITTEN.address:#x} must hold {OUTPUT[0] ^ 1:#04x}, not {OUTPUT[0]:#04x}"
    assert complaints(result.verdict) == [where, f"not predicted, because {REASON}"]


def test_a_golden_file_that_lacks_bytes_which_the_device_writes_fails(model: Built, tmp_path: Path) -> None:
    result = play(model, tmp_path, refused(golden(OUTPUT[:1])))
    assert result.ending is Ending.MISMATCH
    lacks = f"golden.dat: {len(OUTPUT) - 1} bytes of its check that layers write are not in the file"
    assert complaints(result.verdict)[0] == f"{lacks}, first at {WRITTEN.address + 1:#x}"


def test_golden_bytes_that_the_device_does_not_write_say_nothing(model: Built, tmp_path: Path) -> None:
    load = next(op for op in PREDICTED.ops if isinstance(op, MemLoad))
    ((offset, data), *_) = load.chunks
    beside = CheckFile(DONE, load.ram, load.address + offset, len(data), ((0, data),), "input.dat")
    result = play(model, tmp_path, refused(beside))
    assert (result.ending, result.verdict.refused) == (Ending.REFUSED, REASON)


def test_without_golden_results_it_stays_refused(model: Built, tmp_path: Path) -> None:
    result = play(model, tmp_path, refused())
    assert (result.ending, result.verdict.refused) == (Ending.REFUSED, REASON)


def test_the_command_never_calls_it_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(refused(golden()), tmp_path / "batches")
    assert main(["trace", "batches"]) == 0
    out = capsys.readouterr().out
    assert f"golden equal: sdp_pass_through_full_atom.2\n  golden equal; not predicted, because {REASON}\n" in out
    assert out.splitlines()[-1] == "0 passed, 0 failed, 0 refused, 1 golden equal, not predicted"
    report = (tmp_path / "sim_build/runs/trace-nv_small/junit.xml").read_text(encoding="utf-8")
    assert 'skipped="1"' in report
    assert main(["trace", "--model-only", "batches"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 0 failed, 1 refused"
