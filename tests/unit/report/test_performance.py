"""Performance out of facts: text, data, and what became slower."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nvdla_models.errors import InputError
from nvdla_tb.judge.layer_facts import LayerFacts, Moved
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.performance import Work
from nvdla_tb.report.performance import cycles_of, layers_of, read_cycles, slower, table
from nvdla_tb.stimulus.result import Dut, Result


def facts(**changes: Any) -> LayerFacts:
    layer = LayerFacts(
        0,
        "layer 0 (CONV, group 0)",
        "CONV",
        0,
        judged_bytes=64,
        wrong_bytes=0,
        missing_bytes=0,
        worst_margin=None,
        enabled=10,
        begun=10,
        ended=135,
        work=Work(6400, {"MAC": 100, "MC read": 60}, {Ram.MC: 480}, {Ram.MC: 64}, 64),
        moved=None,
        counters={},
    )
    return msgspec.structs.replace(layer, **changes)


def test_a_layer_is_one_line() -> None:
    assert table(layers_of([facts()])) == (
        "layer                    cycles  bound  cycles of it  ratio  MAC %  read  written  stalls\n"
        "layer 0 (CONV, group 0)     125    MAC           100   1.25   80.0   480       64       -"
    )


def test_measured_bytes_and_the_longest_stall_stand_in_it() -> None:
    counters = {
        "CDMA.D_PERF_DAT_READ_STALL": 3,
        "CDMA.D_PERF_WT_READ_STALL": 40,
        "SDP.D_PERF_OUT_SATURATION": 99,
    }
    (layer,) = layers_of([facts(moved={Ram.MC: Moved(512, 65)}, counters=counters)])
    line = table([layer]).splitlines()[1]
    assert line.endswith("512       65  40 CDMA.D_PERF_WT_READ_STALL")
    assert layer.to_dict()["stalls"] == {k: v for k, v in counters.items() if "STALL" in k}
    json.dumps(layer.to_dict())


def test_more_stalls_than_cycles_are_not_shown() -> None:
    (layer,) = layers_of([facts(counters={"PDP.D_PERF_WRITE_STALL": 126, "CDMA.D_PERF_WT_READ_STALL": 125})])
    assert layer.measured.cycles == 125
    assert layer.stalls == {"CDMA.D_PERF_WT_READ_STALL": 125}


def test_a_layer_whose_end_was_not_seen_has_no_performance() -> None:
    assert layers_of([facts(ended=None)]) == []
    assert layers_of([]) == []


def test_what_takes_more_cycles_by_more_than_a_part_is_slower() -> None:
    before = {"a": 100, "b": 100, "c": 100, "gone": 1}
    assert slower({"a": 106, "b": 105, "c": 90, "new": 5}, before, 5.0, "") == [
        "slower: a: 106 cycles, 100 before (+6.0 %)"
    ]


def test_runs_that_have_nothing_in_common_are_not_found_equal() -> None:
    (line,) = slower({"new": 5}, {"old": 5}, 5.0, "run 1 has nothing of run 2")
    assert line == "--cycles-against: run 1 has nothing of run 2"


def test_cycles_of_an_earlier_run_come_out_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    result = {"scenario": "x", "seed": 1, "cycles": 500, "performance": [{"layer": "conv0", "cycles": 120}]}
    path.write_text(json.dumps([result, {"scenario": "refused", "seed": 0}]), encoding="utf-8")
    assert read_cycles(path) == {"x.1": 500, "x.1 conv0": 120}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "JSON"),
        ("[]", "must hold cycles of an earlier run, not none"),
        ("[1]", r"\[0\] must be a table, not 1$"),
        ('{"a": 1}', r"must be a list, not \{'a': 1\}$"),
        ('[{"scenario": "x"}]', r"\[0\]\.seed is missing$"),
        (
            '[{"scenario": "x", "seed": 0, "performance": [{"layer": "a", "cycles": 0}]}]',
            r"\[0\]\.performance\[0\]\.cycles must be an integer of at least 1, not 0$",
        ),
        ('[{"scenario": "x", "seed": 0, "cycles": -1}]', r"\[0\]\.cycles must be an integer of at least 0, not -1$"),
        ('[{"scenario": "x", "seed": 0}]', "must hold cycles of an earlier run, not none"),
    ],
)
def test_another_file_holds_no_cycles(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"^.*run\.json.*{why}"):
        read_cycles(path)


def test_cycles_of_a_run_are_those_of_its_scenarios_and_layers() -> None:
    dut = Dut("nv_small", "verilator")
    ran = Result("a", 1, dut, "rerun", Verdict(cycles=300), layers=[facts()])
    assert cycles_of([ran, Result("refused", 0, dut, "rerun", Verdict(refused="no Y"))]) == {
        "a.1": 300,
        "a.1 layer 0 (CONV, group 0)": 125,
    }
