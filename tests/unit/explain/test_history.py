"""What earlier layers did is told from what a layer does itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nvdla_tb.explain import Explanation, explain_run
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.seen import Seen
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.predictor.expectation import Expectation
from nvdla_tb.nvdla.layers import ConvLayer, Layer, SdpLayer
from tests.unit.explain import cases
from tests.unit.explain.faults import run
from tests.unit.explain.full_cases import stored
from tests.unit.explain.test_runs import LOAD

MEMORY = cases.memory_for(2)
FIRST = cases.copy_layer()
SECOND = replace(cases.sdp_layer(), src=FIRST.dst, dst=replace(cases.sdp_layer().dst, address=cases.DST + 0x2000))


def explained(layers: list[Layer], left: list[Patch]) -> list[Explanation]:
    """Explain layers that left some bytes, each expected to find what the ones before should have left."""

    def written() -> Iterator[tuple[Expectation, Beats]]:
        found = MEMORY
        for number, (layer, patch) in enumerate(zip(layers, left, strict=True)):
            expectation = cases.predicted(layer, found, number)
            yield expectation, cases.beats_of(patch)
            found = replace(found, data=found.data.copy())
            found.paint(cases.result(expectation))

    return explain_run(Seen.of(cases.scored(written())), (LOAD,))


def names(explanations: list[Explanation]) -> list[tuple[int, str]]:
    """Return which layers are explained, each with its first cause."""
    found = []
    for explanation in explanations:
        assert explanation.evidence.started is not None
        assert explanation.causes[0].share == 1.0
        found.append((explanation.evidence.started.index, explanation.causes[0].name))
    return found


def test_a_layer_that_is_right_but_read_wrong_bytes_is_not_blamed() -> None:
    wrong = run(replace(FIRST, src=replace(FIRST.src, address=cases.SRC + 64)), MEMORY)
    second = run(SECOND, stored(MEMORY, wrong.address, wrong.data))
    assert names(explained([FIRST, SECOND], [wrong, second])) == [(0, "src-base"), (1, "inherited")]


def test_a_layer_that_read_before_the_one_before_had_written_is_told() -> None:
    first = run(FIRST, MEMORY)
    assert names(explained([FIRST, SECOND], [first, run(SECOND, MEMORY)])) == [(1, "read-early")]


def test_kernels_of_the_layer_before_are_told() -> None:
    first = cases.conv_layer()
    second = replace(
        first,
        weights=replace(first.weights, address=cases.X2 + 0x1000),
        dst=replace(first.dst, address=cases.DST + 0x2000),
    )
    assert isinstance(second, ConvLayer)
    stale = run(replace(second, weights=first.weights), MEMORY)
    assert names(explained([first, second], [run(first, MEMORY), stale])) == [(1, "stale-buffer")]


def test_a_register_of_the_layer_before_is_told() -> None:
    first = cases.register_layer()
    converter = replace(first.params.converter, offset=-9, scale=-7, shift=6)
    second = replace(
        first, params=replace(first.params, converter=converter), dst=replace(first.dst, address=cases.DST + 0x2000)
    )
    assert isinstance(second, SdpLayer)
    stale = run(replace(second, params=first.params), MEMORY)
    assert names(explained([first, second], [run(first, MEMORY), stale])) == [(1, "stale-register")]
