"""The score of mutants: tables, survivors with reasons, what the first causes are worth, the last line, and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nvdla_score import mutant_report
from nvdla_score.equivalent import UNTESTED, Outcome, Proof
from nvdla_score.journal import Catch, Played
from nvdla_score.mutants import MutantResult, likely
from nvdla_score.mutate import Mutant
from nvdla_score.reach import Reached
from nvdla_score.units import Judgement, judged
from nvdla_tb.explain.units import Unit
from nvdla_tb.judge.finding import Check


def mutant(module: str, kind: str = "constant + 1") -> Mutant:
    """Return a mutant of a module."""
    return Mutant(Path(f"{module}.v"), module, 7, kind, 3, "4'd1", "4'd2", (0, 9), False)


def catch(cause: str | None, *blamed: str, symptom: bool = False, units: tuple[str, ...] = ("SDP",)) -> Catch:
    """Return a catch with a first cause, the units whose faults look like it, and a line with units."""
    return Catch("sdp_a.1", 2, (Check.VALUE,), 99, cause, "3 wrong bytes", (), symptom, (units,), blamed)


RESULTS = [
    MutantResult(1, mutant("NV_SDP_WDMA_cmd"), Unit.SDP, 5, Played(2, catch("dst-base", "SDP"), 1.0)),
    MutantResult(2, mutant("NV_SDP_WDMA_cmd", "carry dropped"), Unit.SDP, 0, Played(0, None, 0.0), Proof(Outcome.OPEN)),
    MutantResult(3, mutant("NV_PDP_core"), Unit.PDP, 12, Played(9, None, 3.0), Proof(Outcome.EQUAL)),
    MutantResult(4, mutant("NV_PDP_core"), Unit.PDP, 4, Played(4, None, 3.0), Proof(Outcome.TIME, "60 s")),
]


def test_the_summary_has_tables_survivors_with_reasons_and_ends_with_the_score() -> None:
    lines = mutant_report.summary(RESULTS, [Reached("random.3", 1.0, [], alarm=["2 wrong bytes", "more"])])
    table = [line.split() for line in lines[:4]]
    assert table[0][:5] == ["module", "mutants", "caught", "equivalent", "survived"]
    assert table[1] == ["NV_PDP_core", "2", "0", "1", "1", "0", "%"]
    assert table[2] == ["NV_SDP_WDMA_cmd", "2", "1", "0", "1", "50", "%"]
    assert table[3] == ["all", "4", "1", "1", "2", "33", "%"]
    text = "\n".join(lines)
    assert "wrap" in text
    assert "proved equivalent:\n    3 NV_PDP_core.v:7 (NV_PDP_core)" in text
    assert "carry dropped: 4'd1 -> 4'd2: never reached: what it changes has the same value in all scenarios" in text
    assert "reached by 4 scenarios, played on 4, nothing seen; not proved in time: 60 s" in text
    assert "left out, as it fails without a mutant: random.3: 2 wrong bytes" in text
    assert lines[-6:] == [
        "first cause of those caught: right 1, a symptom 0, wrong 0, none 0, shared 0",
        "  unit                 right    wide   wrong    none",
        "  SDP                      1       0       0       0",
        "units named right: 1 of 1 caught; wide 0, wrong 0, none 0; not counted, in modules that units share: 0",
        "not caught: 1 never reached, 1 reached and not seen; not one of them proved equivalent",
        "caught: 1 of 3 not equivalent (33.3 %, at least 95 %); 1 of 4 proved equivalent",
    ]


def test_a_build_without_clock_gates_says_what_it_cannot_test() -> None:
    gated = MutantResult(5, mutant("NV_PDP_slcg"), Unit.PDP, 9, Played(9, None, 3.0), UNTESTED)
    assert gated.equivalent
    said = "not tested by this build, whose clock gates are wires (VLIB_BYPASS_POWER_CG): mutants that stop a clock; "
    lines = mutant_report.summary([*RESULTS, gated], [], bypassed=True)
    assert said + "1 of those proved equivalent act on clock gates alone" in lines
    assert not any("clock gates" in line for line in mutant_report.summary(RESULTS, []))


def test_survivors_whose_scenarios_were_cut_do_not_read_as_if_the_level_had_nothing_more() -> None:
    cut = MutantResult(5, mutant("NV_PDP_core"), Unit.PDP, 66, Played(40, None, 3.0))
    equal = MutantResult(6, mutant("NV_PDP_core"), Unit.PDP, 50, Played(40, None, 3.0), Proof(Outcome.EQUAL))
    caught = MutantResult(7, mutant("NV_PDP_core"), Unit.PDP, 50, Played(2, catch(None), 1.0))
    assert cut.reason == "reached by 66 scenarios, played on 40, 26 cut by --each, nothing seen"
    lines = mutant_report.summary([*RESULTS, cut, equal, caught], [])
    assert lines[-1].endswith("proved equivalent; the level may catch 1 more: --each cut 26 scenarios that reach them")


def test_a_score_passes_with_enough_caught_and_few_wrong_causes() -> None:
    caught = [
        MutantResult(n, mutant("NV_SDP_WDMA_cmd"), Unit.SDP, 1, Played(1, catch("dst-base", "SDP"), 1.0))
        for n in range(19)
    ]
    assert mutant_report.passed([*caught, RESULTS[3]])
    assert not mutant_report.passed([*caught[1:], RESULTS[3], RESULTS[1]])
    wrong = MutantResult(20, mutant("NV_SDP_WDMA_cmd"), Unit.SDP, 1, Played(1, catch("pool-window", "PDP"), 1.0))
    assert not mutant_report.passed([*caught, wrong])


def test_units_are_counted_but_for_modules_that_several_have() -> None:
    def one(unit: Unit | None, *units: str) -> MutantResult:
        return MutantResult(1, mutant("NV_PDP_core"), unit, 1, Played(1, catch(None, units=units), 1.0))

    results = [one(Unit.PDP), one(Unit.PDP, "SDP"), one(Unit.SDP, "SDP_RDMA", "SDP", "PDP"), one(None, "PDP")]
    lines = mutant_report.summary(results, [])
    assert lines[-5:-2] == [
        "  SDP                      0       1       0       0",
        "  PDP                      0       0       1       1",
        "units named right: 0 of 3 caught; wide 1, wrong 1, none 1; not counted, in modules that units share: 1",
    ]
    assert [mutant_report.line(result).rpartition("; ")[2] for result in results] == [
        *("unit nothing: none", "unit SDP: wrong, PDP has it"),
        *("unit SDP_RDMA, SDP, PDP: wide", "unit PDP: shared"),
    ]


def test_lines_say_what_the_first_cause_is_worth() -> None:
    assert mutant_report.line(RESULTS[0]).endswith("(sdp_a.1, cycle 99); dst-base: right; unit SDP: right")
    assert "SURVIVED: never reached" in mutant_report.line(RESULTS[1])


@pytest.mark.parametrize(
    ("module", "unit", "cause", "worth"),
    [
        ("NV_NVDLA_SDP_WDMA_cmd", Unit.SDP, catch("dst-line-stride", "SDP"), Judgement.RIGHT),
        ("NV_NVDLA_SDP_WDMA_cmd", Unit.SDP, catch("src-line-stride", "SDP_RDMA"), Judgement.WRONG),
        ("NV_NVDLA_SDP_WDMA_cmd", Unit.SDP, catch("src-order", "SDP_RDMA", "SDP"), Judgement.RIGHT),
        ("NV_NVDLA_PDP_REG_dual", Unit.PDP, catch("pool-padding", "SDP"), Judgement.RIGHT),
        ("NV_NVDLA_CSC_dl", Unit.CSC, catch("pool-padding", "PDP"), Judgement.WRONG),
        ("NV_NVDLA_CSC_dl", Unit.CSC, catch("lost-part", symptom=True), Judgement.SYMPTOM),
        ("NV_NVDLA_CSC_dl", Unit.CSC, catch(None), Judgement.NONE),
        ("NV_NVDLA_CSC_dl", Unit.CSC, catch("stale-register", "CDMA", "CSC"), Judgement.WRONG),
        ("nv_ram_rws_16x64", None, catch("pool-padding", "PDP"), Judgement.SHARED),
    ],
)
def test_a_cause_is_right_when_it_points_at_the_unit_of_the_mutant(
    module: str, unit: Unit | None, cause: Catch, worth: Judgement
) -> None:
    assert judged(module, unit, cause) is worth


def test_json_has_every_mutant_and_the_counts(tmp_path: Path) -> None:
    path = tmp_path / "score.json"
    mutant_report.write_json(RESULTS, [], path)
    data = json.loads(path.read_text())
    assert (data["mutants"], data["caught"], data["not_equivalent"], data["not_exhausted"]) == (4, 1, 3, 0)
    assert [result["judged"] for result in data["results"]] == ["right", None, None, None]
    assert [result["naming"] for result in data["results"]] == ["right", None, None, None]
    assert (data["results"][0]["unit"], data["results"][0]["named"]) == ("SDP", [["SDP"]])
    assert data["units"] == {"right": 1, "wide": 0, "wrong": 0, "none": 0, "shared": 0}
    assert data["results"][1]["reason"].startswith("never reached")
    assert data["results"][2]["proof"] == "proved equivalent"


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("NV_NVDLA_CDMA_wt", ["conv_1x1", "stream_reuse"]),
        ("nvdla_sdp_x", ["sdp_x1", "pressure_sdp_beside"]),
        ("NV_PDP_REG_dual", ["pdp_max", "groups_differ_cdp", "registers_walk"]),
        ("NV_NVDLA_MCIF_read", ["memory_interface_turns"]),
    ],
)
def test_scenarios_of_the_mutated_unit_are_likely(module: str, names: list[str]) -> None:
    assert all(likely(module) & set(name.split("_")) for name in names)
    assert not likely(module) & {"random", "clocks"}
