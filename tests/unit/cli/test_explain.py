"""The command explains folders of runs and pairs of dumps, and refuses what it cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nvdla_tb.judge.predictor import predict
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run.answers import RESULT_FILE
from nvdla_tb.run.explained import explain_folder
from nvdla_tb.stimulus.result import Dut, Result
from tests.unit.conftest import Run
from tests.unit.explain import cases
from tests.unit.explain.test_runs import failed_run, read


def test_the_command_prints_the_explanation_of_a_folder(tmp_path: Path, tb: Run) -> None:
    folder = failed_run(tmp_path / "run")
    ran = tb(f"explain {folder}")
    (explanation,) = explain_folder(folder)
    assert (ran.code, ran.out) == (1, "\n".join(explanation.lines()) + "\n")


def test_two_dumps_are_explained_by_their_layout(tmp_path: Path, tb: Run) -> None:
    layer = cases.copy_layer()
    expectation = predict(StartedLayer(0, "SDP", 0, layer), read)
    layout = layer.dst.layout
    packed = replace(layout, surface_stride_bytes=layout.surface_stride_bytes + 16)
    actual = np.zeros(packed.nbytes, dtype=np.uint8)
    written = packed.written_mask()
    actual[written] = expectation.data[expectation.must_write]
    expectation.data.tofile(tmp_path / "expected.bin")
    actual.tofile(tmp_path / "actual.bin")
    words = f"--format feature --precision int8 --shape 21,5,6 --base {layer.dst.address:#x}"
    ran = tb(f"explain expected.bin actual.bin {words}")
    assert ran.code == 1
    assert "1. output: wrong surface stride: 256 bytes instead of 240, 2 atoms too large" in ran.out
    same = tb(f"explain expected.bin expected.bin {words}")
    assert (same.code, same.out) == (0, "expected.bin: nothing is wrong\n")


def test_a_run_that_passed_has_nothing_to_explain(tmp_path: Path, tb: Run) -> None:
    dut = Dut("nv_small", "verilator")
    Result("fine", 7, dut, "rerun", Verdict(layers=1, judged_bytes=8)).save(tmp_path / RESULT_FILE)
    assert tb(f"explain {tmp_path}").refusal == (
        f"{tmp_path} must be of a run that wrote wrong bytes, not of fine.7 (passed)"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a b c", "PATH must be the folder of a run, or two memory dumps, not 3 paths"),
        ("run --format feature", "--format must not be given for the folder of a run"),
        ("a.bin b.bin --layers 2", "--layers must only be given for the folder of a run"),
        ("a.bin b.bin --format weight --precision int8 --shape 1,1,1,1", "--format must be feature, not weight"),
        ("nowhere", "nowhere/writes.npz: cannot be read: No such file or directory"),
    ],
)
def test_what_the_command_cannot_explain_is_refused(tb: Run, words: str, message: str) -> None:
    assert tb(f"explain {words}").refusal == message
