"""Performance out of facts: text, data, and what became slower."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models.errors import InputError
from tb.report.performance import cycles_by_layer, cycles_of_facts, layers_of, read_cycles, slower, table


def facts(**changes: Any) -> dict[str, Any]:
    work = {
        "macs": 6400,
        "mac_peak": 64,
        "bounds": {"MAC": 100, "MC read": 60},
        "read_bytes": {"MC": 480},
        "written_bytes": {"MC": 64},
    }
    layer = {
        "name": "layer 0 (CONV, group 0)",
        "begun": 10,
        "ended": 135,
        "work": work,
        "moved": None,
        "counters": {},
    }
    return {"layer_facts": [layer | changes]}


def test_a_layer_is_one_line() -> None:
    assert table(layers_of(facts())) == (
        "layer                    cycles  bound  cycles of it  ratio  MAC %  read  written  stalls\n"
        "layer 0 (CONV, group 0)     125    MAC           100   1.25   80.0   480       64       -"
    )


def test_measured_bytes_and_the_longest_stall_stand_in_it() -> None:
    counters = {
        "CDMA.D_PERF_DAT_READ_STALL": 3,
        "CDMA.D_PERF_WT_READ_STALL": 40,
        "SDP.D_PERF_OUT_SATURATION": 99,
    }
    (layer,) = layers_of(facts(moved={"MC": {"read": 512, "written": 65}}, counters=counters))
    line = table([layer]).splitlines()[1]
    assert line.endswith("512       65  40 CDMA.D_PERF_WT_READ_STALL")
    assert layer.to_dict()["stalls"] == {k: v for k, v in counters.items() if "STALL" in k}
    json.dumps(layer.to_dict())


def test_a_layer_whose_end_was_not_seen_has_no_performance() -> None:
    assert layers_of(facts(ended=None)) == []
    assert layers_of({}) == []


def test_what_takes_more_cycles_by_more_than_a_part_is_slower() -> None:
    before = {"a": 100, "b": 100, "c": 100, "gone": 1}
    assert slower({"a": 106, "b": 105, "c": 90, "new": 5}, before, 0.05) == ["a: 106 cycles, 100 before (+6.0 %)"]


def test_cycles_of_an_earlier_run_come_out_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    result = {"scenario": "x", "seed": 1, "cycles": 500, "performance": [{"layer": "conv0", "cycles": 120}]}
    path.write_text(json.dumps([result, {"scenario": "refused", "seed": 0}]), encoding="utf-8")
    assert read_cycles(path) == {"x.1": 500, "x.1 conv0": 120} == cycles_by_layer([result])
    for text in ("{", "[]", "[1]", '{"a": 1}', '[{"scenario": "x", "seed": 0}]'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"^.*run\.json must (be the --json file|hold cycles) of an earlier run"):
            read_cycles(path)


def test_cycles_of_a_run_of_a_store_come_out_of_its_facts() -> None:
    assert cycles_of_facts([("a.1", facts() | {"cycles": 300}), ("refused", {})]) == {
        "a.1": 300,
        "a.1 layer 0 (CONV, group 0)": 125,
    }
