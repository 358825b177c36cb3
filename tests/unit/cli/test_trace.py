"""``trace --model-only``: golden traces and measured layers, their tables and the exit code."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.references import MEASURED, TRACES, needs_measured, needs_traces
from tests.unit.cli.conftest import Run
from tests.unit.stimulus.trace.measured_files import CARRIED, rewritten

pytestmark = pytest.mark.slow


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


def test_a_measured_layer_is_played_on_its_own_configuration(tb: Run, tmp_path: Path) -> None:
    ran = tb("trace --model-only", str(CARRIED / "sdp_int16_to_int8.npz"), "--json results.json")
    assert ran.code == 0
    table, families, legend, _ = ran.out.split("\n\n")
    assert legend.startswith("exact: ")
    heading, row = (" ".join(line.split()) for line in table.splitlines())
    assert heading == "result scenario family layers bytes judged golden differing worst margin seconds"
    assert row.startswith("passed sdp_int16_to_int8 sdp int16 to int8 1 6336 1/1 0 - ")
    assert families.splitlines() == [
        "family             files  passed  failed  refused  exact  by tolerance  worst margin  counters  bytes judged",
        "sdp int16 to int8      1       1       0        0      1             0             -         6          6336",
    ]
    assert ran.out.splitlines()[-1] == "1 passed, 0 failed, 0 refused"
    (result,) = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert (result["scenario"], result["outcome"], result["judged_bytes"]) == ("sdp_int16_to_int8", "passed", 6336)


@needs_measured
@pytest.mark.parametrize("options", ["", "--exact"])
def test_every_measured_layer_is_accepted_by_its_rule_and_reproduced_bit_by_bit(tb: Run, options: str) -> None:
    ran = tb("trace --model-only", str(MEASURED), options)
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "166 passed, 0 failed, 0 refused"
    total = next(line for line in ran.out.splitlines() if line.startswith("all "))
    *counts, counters, _ = total.removeprefix("all").split()
    assert counts == ["166", "166", "0", "0", "166", *(("0", "-") if options else ("117", "0.500"))]
    assert int(counters) > 700


def flipped(at: int, bits: int) -> Callable[[Any, Any], None]:
    """Return what flips bits of a byte of the golden result."""

    def spoil(arrays: Any, _: Any) -> None:
        arrays["raw_output"][at] ^= bits

    return spoil


def test_a_last_bit_of_a_convolution_is_tolerated_but_not_exact(tb: Run, tmp_path: Path) -> None:
    path = rewritten(tmp_path / "wino_odd.npz", "wino_fp16_8x8x32_k16_exp16", flipped(4, 1))
    ran = tb("trace --model-only", str(path))
    assert ran.code == 0
    counts = ran.out.split("\n\n")[2].split("\n")[1].split()[1:]
    assert counts[:7] == ["fp16", "1", "1", "0", "0", "0", "1"]
    assert 0.0 < float(counts[7]) <= 1.0
    strict = tb("trace --model-only --exact", str(path))
    assert strict.code == 1
    assert "\n  wrong value: 1 elements; layer 0 (CONV, group 0): first at c=2 h=0 w=0 " in strict.out
    assert f"\n  rerun: nvdla-tb trace --model-only {path} --config nv_small --exact\n" in strict.out


def test_one_wrong_byte_fails_with_its_element_and_the_command_to_repeat_it(tb: Run, tmp_path: Path) -> None:
    path = rewritten(tmp_path / "sdp_bad.npz", "sdp_int16_to_int8", flipped(100, 4))
    ran = tb("trace --model-only", str(path))
    assert ran.code == 1
    assert "failed: sdp_bad.0\n  wrong value: 1 elements; layer 0 (SDP, group 0): first at c=4 h=0 w=3 " in ran.out
    assert f"\n  rerun: nvdla-tb trace --model-only {path} --config nv_small\n" in ran.out
    assert ran.out.splitlines()[-1] == "0 passed, 1 failed, 0 refused"


def test_a_run_in_which_all_is_refused_has_failed(tb: Run, tmp_path: Path) -> None:
    def describe(_: Any, meta: Any) -> None:
        meta["registers"] = [
            [name, 1 << 8 if name == "SDP.D_FEATURE_MODE_CFG" else value] for name, value in meta["registers"]
        ]

    path = rewritten(tmp_path / "sdp_odd.npz", "sdp_int16_to_int8", describe)
    ran = tb("trace --model-only", str(path))
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "0 passed, 0 failed, 1 refused"


def test_a_malformed_layer_is_one_message(tb: Run, tmp_path: Path) -> None:
    path = rewritten(tmp_path / "sdp_odd.npz", "sdp_int16_to_int8", lambda arrays, meta: meta.pop("memory"))
    ran = tb("trace --model-only", str(path))
    assert (ran.code, ran.err) == (2, f"error: {path}: memory must be list, not None\n")


def test_one_broken_layer_among_others_is_a_failure_with_its_reason(tb: Run, tmp_path: Path) -> None:
    rewritten(tmp_path / "a_odd.npz", "sdp_int16_to_int8", lambda arrays, meta: meta.pop("memory"))
    rewritten(tmp_path / "b_sound.npz", "sdp_int16_to_int8", lambda arrays, meta: None)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "c.cfg").write_text("reg_write(1);\nnonsense();\n", encoding="utf-8")
    ran = tb("trace --model-only", str(tmp_path))
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "1 passed, 2 failed, 0 refused"
    assert f"failed: a_odd.0\n  {tmp_path}/a_odd.npz: memory must be list, not None\n" in ran.out
    assert f"failed: c.0\n  {tmp_path}/c/c.cfg:1: reg_write must have (register, value), not 1 arguments\n" in ran.out
