"""``trace --model-only``: golden traces and measured layers, their tables and the exit code."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_tb.nvdla.program.ops import CheckFile, Op, RegWrite
from nvdla_tb.stimulus.trace import write
from tests.measured import carried, write_traces
from tests.references import MEASURED, TRACES, needs_measured, needs_traces
from tests.unit.conftest import Run

pytestmark = pytest.mark.slow
ON_FULL = "trace --model-only --config nv_full"


def changed(folder: Path, layer: str, change: Callable[[Op], Op] = lambda op: op) -> Path:
    """Write a carried layer as a trace with its operations changed."""
    scenario = carried(layer)
    write(replace(scenario, name=folder.name, ops=tuple(map(change, scenario.ops))), folder)
    return folder


@needs_traces
def test_every_golden_crc_comes_out_within_half_a_minute_and_y_is_refused(tb: Run) -> None:
    started = time.monotonic()
    ran = tb("trace --model-only", str(TRACES))
    assert time.monotonic() - started < 30
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "41 passed, 0 failed, 1 refused"
    assert (
        "refused: sdp_3x3x33_ew_int8_reg_0.0\n"
        "  SDP.D_DP_EW_CFG.ew_bypass must be YES, not NO: nv_small has no Y (element-wise and LUT)"
    ) in ran.out


def test_the_table_has_a_line_for_each_trace_and_each_family(tb: Run, tmp_path: Path) -> None:
    ran = tb(ON_FULL, str(changed(tmp_path / "sdp_one", "sdp_int16_to_int8")), "--json results.json")
    assert ran.code == 0
    table, families, legend, _ = ran.out.split("\n\n")
    assert legend.startswith("exact: ")
    heading, row = (" ".join(line.split()) for line in table.splitlines())
    assert heading == "result scenario family layers bytes judged golden differing worst margin seconds"
    assert row.startswith("passed sdp_one sdp 1 6336 1/1 0 - ")
    assert families.splitlines() == [
        "family  files  passed  failed  refused  exact  by tolerance  worst margin  counters  bytes judged",
        "sdp         1       1       0        0      1             0             -         6          6336",
    ]
    assert ran.out.splitlines()[-1] == "1 passed, 0 failed, 0 refused"
    (result,) = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert (result["scenario"], result["outcome"], result["judged_bytes"]) == ("sdp_one", "passed", 6336)


@needs_measured
@pytest.mark.parametrize("options", ["", "--exact"])
def test_every_measured_layer_is_accepted_by_its_rule_and_reproduced_bit_by_bit(
    tb: Run, tmp_path: Path, options: str
) -> None:
    write_traces(MEASURED, tmp_path)
    ran = tb(ON_FULL, str(tmp_path), options)
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "166 passed, 0 failed, 0 refused"
    total = next(line for line in ran.out.splitlines() if line.startswith("all "))
    *counts, counters, _ = total.removeprefix("all").split()
    assert counts == ["166", "166", "0", "0", "166", *(("0", "-") if options else ("117", "0.500"))]
    assert int(counters) > 700


def flipped(at: int, bits: int) -> Callable[[Op], Op]:
    """Return what flips bits of a byte of the golden result."""

    def spoil(op: Op) -> Op:
        if not isinstance(op, CheckFile):
            return op
        data = bytearray(op.chunks[0][1])
        data[at] ^= bits
        return replace(op, chunks=((0, bytes(data)),))

    return spoil


def test_a_last_bit_of_a_convolution_is_tolerated_but_not_exact(tb: Run, tmp_path: Path) -> None:
    path = changed(tmp_path / "wino_odd", "wino_fp16_8x8x32_k16_exp16", flipped(4, 1))
    ran = tb(ON_FULL, str(path))
    assert ran.code == 0
    counts = ran.out.split("\n\n")[2].split("\n")[1].split()[1:]
    assert counts[:6] == ["1", "1", "0", "0", "0", "1"]
    assert 0.0 < float(counts[6]) <= 1.0
    strict = tb(ON_FULL, "--exact", str(path))
    assert strict.code == 1
    assert "\n  wrong value: 1 element; layer 0 (CONV, group 0): first at c=2 h=0 w=0 " in strict.out
    assert f"\n  rerun: nvdla-tb trace --model-only {path} --config nv_full --exact\n" in strict.out


def test_one_wrong_byte_fails_with_its_element_and_the_command_to_repeat_it(tb: Run, tmp_path: Path) -> None:
    path = changed(tmp_path / "sdp_bad", "sdp_int16_to_int8", flipped(100, 4))
    ran = tb(ON_FULL, str(path))
    assert ran.code == 1
    assert "failed: sdp_bad.0\n  wrong value: 1 element; layer 0 (SDP, group 0): first at c=4 h=0 w=3 " in ran.out
    assert f"\n  rerun: nvdla-tb trace --model-only {path} --config nv_full\n" in ran.out
    assert ran.out.splitlines()[-1] == "0 passed, 1 failed (1 mismatch), 0 refused"


def test_a_run_in_which_all_is_refused_has_failed(tb: Run, tmp_path: Path) -> None:
    def batch(op: Op) -> Op:
        return replace(op, value=1 << 8) if isinstance(op, RegWrite) and op.register == "SDP.D_FEATURE_MODE_CFG" else op

    ran = tb(ON_FULL, str(changed(tmp_path / "sdp_odd", "sdp_int16_to_int8", batch)))
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "0 passed, 0 failed, 1 refused"


def test_a_malformed_trace_is_one_message(tb: Run, tmp_path: Path) -> None:
    path = tmp_path / "c.cfg"
    path.write_text("nonsense;\n", encoding="utf-8")
    ran = tb("trace --model-only", str(path))
    assert (ran.code, ran.err) == (2, f"error: {path}:1: nonsense: ( must follow, not ;\n")


def test_one_broken_trace_among_others_is_a_failure_with_its_reason(tb: Run, tmp_path: Path) -> None:
    changed(tmp_path / "b_sound", "sdp_int16_to_int8")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "c.cfg").write_text("reg_write(1);\nnonsense();\n", encoding="utf-8")
    ran = tb(ON_FULL, str(tmp_path))
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "1 passed, 1 failed (1 bench error), 0 refused"
    assert f"failed: c.0\n  {tmp_path}/c/c.cfg:1: reg_write must have (register, value), not 1 arguments\n" in ran.out
