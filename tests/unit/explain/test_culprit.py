"""The unit that hand-overs of a layer point at."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from nvdla_tb.explain.culprit import culprit
from nvdla_tb.explain.handovers import Stage
from nvdla_tb.explain.stages import StageResult


def stage(name: str, unit: str, value: str) -> Stage:
    stripe = (8, 16) if value in ("kernels", "elements", "products") else None
    data = () if value == "flush" else ("d",)
    return Stage(name=name, unit=(unit,), engines=("CONV",), value=value, valid="v", data=data, stripe=stripe)


INSIDE = stage("inside", "CSC", "elements")
SUMS = stage("CACC out", "CACC", "sums")


def test_the_culprit_is_the_unit_before_the_first_bad_hand_over() -> None:
    names = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")
    stages = [structs.replace(INSIDE, name=f"{name} out", unit=(name,)) for name in names]
    stages = [structs.replace(stage, value="products") if "CMAC" in stage.name else stage for stage in stages]
    stages[4] = SUMS

    def found(*texts: str | None, skipped: int = 0) -> tuple[str, bool] | None:
        results = [
            StageResult(stage, 1, 1, text, "no order" if number < skipped else None)
            for number, (stage, text) in enumerate(zip(stages, texts, strict=True))
        ]
        one = culprit(stages, results, "CONV")
        return None if one is None else (one.suspect.words, one.is_sure)

    assert found(None, "x", "x", "x", "x") == ("CSC", True)
    assert found(None, None, "x", "x", "x") == ("CMAC_A or CMAC_B", True)
    assert found(None, None, None, "x", "x") == ("CMAC_B", True)
    assert found(None, None, None, None, "x") == ("CACC", True)
    assert found(None, None, None, None, None) == ("SDP_RDMA or SDP", True)
    assert found(None, None, None, None, "x", skipped=2) == ("CACC", True), "right products are made of right elements"
    assert found(None, None, "x", "x", "x", skipped=2) == ("CDMA, CSC, CMAC_A or CMAC_B", False)
    assert found(None, None, None, None, "x", skipped=4) == ("CDMA, CSC, CMAC_A, CMAC_B or CACC", False)
    assert found(None, None, None, None, None, skipped=5) is None


def test_right_data_that_may_have_been_overwritten_are_suspected_until_something_behind_them_is_right() -> None:
    loaded = StageResult(stage("weights", "CDMA (weights)", "packed"), 9, 9)
    kernels = StageResult(stage("weights out", "CSC", "kernels"), 9, 9, "x")
    stages = [loaded.stage, kernels.stage, SUMS]

    def found(*results: StageResult) -> tuple[str, bool]:
        one = culprit(stages, [*results, StageResult(SUMS, 9, 9, "x")], "CONV")
        assert one is not None
        return one.suspect.words, one.is_sure

    again = replace(loaded, refills=True)
    assert found(loaded, kernels) == ("CSC", True)
    assert found(again, kernels) == ("CDMA (weights) or CSC", False)
    assert found(again, replace(kernels, wrong=None)) == ("CACC", True)


STAGES = [
    stage("data", "CDMA (data)", "converted"),
    stage("weights", "CDMA (weights)", "packed"),
    stage("elements A", "CSC", "elements"),
    stage("elements B", "CSC", "elements"),
    stage("products A", "CMAC_A", "products"),
    stage("products B", "CMAC_B", "products"),
    SUMS,
    stage("credits", "CACC", "credits"),
    stage("lines", "CDMA (data)", "loaded-lines"),
]
TOTAL = {"converted": 40, "packed": 30, "elements": 80, "products": 80, "sums": 320, "credits": 40, "loaded-lines": 4}


def words(results: Sequence[StageResult], offered: Container[str] | None = None) -> str | None:
    """Return the units that results of the stages point at."""
    found = culprit(STAGES, results, "CONV", offered)
    return None if found is None else found.suspect.words


def hung(*beats: int, offered: str = "", skipped: str | None = None) -> str:
    """Return the units of a hang after which so many beats have passed each stage."""
    results = [
        StageResult(
            stage,
            count,
            TOTAL[stage.value],
            skipped="no order" if stage.name == skipped else None,
            finished=count / TOTAL[stage.value],
        )
        for stage, count in zip(STAGES, beats, strict=False)
    ]
    return str(words(results, {offered}))


@pytest.mark.parametrize(
    ("beats", "units"),
    [
        ((40, 30, 80, 80, 80, 80, 320), "SDP_RDMA or SDP"),
        ((40, 30, 80, 80, 80, 80, 160), "CACC"),
        ((40, 30, 48, 48, 48, 48, 160), "CACC"),
        ((40, 30, 48, 48, 48, 48, 192), "CSC or CACC"),
        ((40, 30, 48, 48, 48, 40, 160), "CMAC_B"),
        ((24, 30, 48, 48, 48, 48, 192), "CDMA (data) or CSC"),
        ((40, 12, 48, 48, 48, 48, 192), "CDMA (weights) or CSC"),
        ((0, 0, 0, 0, 0, 0, 0), "CDMA (data), CDMA (weights) or CSC"),
        ((40, 30, 48, 48, 48, 48, 192, 23), "CACC"),
        ((40, 30, 48, 48, 48, 48, 192, 24), "CSC or CACC"),
        ((40, 30, 48, 48, 48, 48, 192, 24, 3), "CDMA (data)"),
        ((40, 12, 48, 48, 48, 48, 192, 24, 3), "CDMA (weights), CDMA (data) or CSC"),
    ],
)
def test_the_culprit_of_a_hang_has_taken_more_than_it_handed_on(beats: tuple[int, ...], units: str) -> None:
    assert hung(*beats) == units


def test_cells_without_kernels_say_nothing_of_a_hang() -> None:
    counts = {"converted": 40, "packed": 30, "elements": 48, "products": 48, "sums": 160}
    results = [
        StageResult(stage, counts[stage.value], TOTAL[stage.value], finished=finished)
        for stage, finished in zip(STAGES[:7], (1, 1, 0.6, 0.6, 0.6, 0.6, 0.5), strict=True)
    ]
    results[5] = replace(results[5], beats=0, expected=0, finished=0.0)
    results[3] = replace(results[3], beats=0, expected=0, finished=0.0)
    assert words(results, set()) == "CACC"


def test_what_is_offered_and_not_taken_points_at_who_should_take_it() -> None:
    assert hung(30, 30, 48, 48, 48, 48, 100, offered="CACC out") == "SDP_RDMA or SDP"


def test_what_could_not_be_compared_stays_suspected() -> None:
    assert hung(40, 30, 48, 48, 48, 48, 192, skipped="data") == "CDMA (data) or CSC"


def test_a_wrong_value_says_more_than_what_is_missing() -> None:
    results = [StageResult(stage, 10, TOTAL[stage.value]) for stage in STAGES]
    results[4] = replace(results[4], wrong="x")
    assert words(results, set()) == "CMAC_A"
    assert words(results) == "CDMA (data)", "nothing holds back the first units of a layer that has ended"


def test_a_flush_that_is_never_done_says_who_holds_up_a_hang() -> None:
    flushes = [stage(f"flush of {what}", f"CDMA ({what})", "flush") for what in ("data", "weights")]
    results = [StageResult(stage, 0, TOTAL[stage.value]) for stage in STAGES]

    def named(*offered: str) -> str:
        found = culprit([*STAGES, *flushes], results, "CONV", set(offered))
        assert found is not None
        return str(found.suspect)

    assert named("flush of data") == "CDMA (data): flush of data: asked for, and never done"
    assert named(*(flush.name for flush in flushes)).startswith("CDMA (data) or CDMA (weights): flush of data and ")
    assert named().startswith("CDMA (data), CDMA (weights) or CSC: elements A: 0 of 80 beats")


INSIDE_SDP = [
    Stage(name=name, unit=(unit,), engines=("SDP",), value=value, valid="v", data=("d",))
    for name, unit, value in (
        ("read", "SDP_RDMA (input)", "entered"),
        ("operands", "SDP_RDMA (operands of X1)", "x1-alu-operands"),
        ("sums", "SDP (ALU of X1)", "x1-alu"),
        ("first", "SDP (X1)", "x1"),
        ("result", "SDP (output converter)", "sdp-result"),
    )
]


@pytest.mark.parametrize(
    ("beats", "offered", "unit"),
    [
        ((40, 80, 38, 37, 36), (), "SDP_RDMA (input)"),
        ((80, 80, 79, 79, 79), (), "SDP (ALU of X1)"),
        ((80, 80, 80, 80, 79), (), "SDP (output converter)"),
        ((41, 41, 38, 37, 36), ("read", "operands", "sums"), "SDP (X1)"),
        ((40, 38, 38, 37, 36), ("read",), "SDP_RDMA (operands of X1)"),
        ((41, 41, 38, 37, 36), ("result",), "memory interface"),
    ],
)
def test_a_stage_of_sdp_that_takes_no_more_or_hands_on_no_more_is_the_culprit_of_a_hang(
    beats: tuple[int, ...], offered: tuple[str, ...], unit: str
) -> None:
    results = [StageResult(stage, count, 80) for stage, count in zip(INSIDE_SDP, beats, strict=True)]
    found = culprit(INSIDE_SDP, results, "SDP", set(offered))
    assert found is not None
    assert found.suspect.words == unit
