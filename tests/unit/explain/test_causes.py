"""Every cause is injected and found again; noise is not explained."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16
from nvdla_models.pdp import PoolMethod
from nvdla_tb.explain import Diagnosis, diagnose, explain
from nvdla_tb.explain.build import run_of
from nvdla_tb.explain.cause import Cause, Fit, Variant
from nvdla_tb.explain.causes import CAUSES
from nvdla_tb.explain.evidence import Evidence, from_writes
from nvdla_tb.explain.memory import Bytes, Patch
from nvdla_tb.judge.beats import Beats
from nvdla_tb.nvdla.layers import Layer
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.joint_faults import CONTRACT, SPLIT

LAYERS: dict[str, Callable[[], Layer]] = {
    "sdp": cases.sdp_layer,
    "copy": cases.copy_layer,
    "registers": cases.register_layer,
    "pairs": cases.pair_layer,
    "average": cases.pdp_layer,
    "maximum": lambda: cases.pdp_layer(PoolMethod.MAX),
    "cdp": cases.cdp_layer,
    "cube": cases.conv_layer,
    "image": cases.image_layer,
    "contract": lambda: CONTRACT,
    "split": lambda: SPLIT,
}
MEMORY = cases.memory_for(1)
BY_NAME = {cause.name: cause for cause in CAUSES}


@cache
def sound() -> list[tuple[Layer, Evidence]]:
    """Return all layers with the evidence of right runs."""
    return [(layer, cases.evidence_of(layer, MEMORY)) for layer in (make() for make in LAYERS.values())]


def visible(layer: Layer, right: Evidence, cause: Cause) -> Variant | None:
    """Return a variant of a cause that changes something and is not the first of its kind, if there is one."""
    found: list[Variant] = []
    assert right.rerun is not None
    for variant in cause.on(right, right.rerun):
        try:
            patch = variant.run.patch(MEMORY)
        except InputError:
            continue
        if cases.evidence_of(layer, MEMORY, lambda _, patch=patch: patch).wrong.sum() >= 8:
            found.append(variant)
        if len(found) == 3:
            break
    return found[-1] if found else None


UNSEEN = {
    "stale-register",
    "lost-write",
    "dst-constant",
    "bus-lanes",
    "conv-kernel-extension",
    "conv-nan",
    "conv-winograd",
    "conv-mask",
    "conv-group-size",
    "inherited",
    "altered",
    "read-early",
    "stale-buffer",
    "lut-slope",
    "prelu-truncates",
    "pool-split",
    *(f"y-{kind}" for kind in ("alu", "mul", "truncate", "converter", "lut")),
    *(f"y-lut-{kind}" for kind in ("priority", "index", "entries", "slope")),
    *(f"{end}-{kind}" for end in ("src", "dst") for kind in ("byte-order", "narrow")),
    *(f"fp16-{kind}" for kind in ("denormal", "denormal-inputs", "infinity", "nan", "zero", "last-place")),
}
"""Causes that need other evidence than these layers; they have tests of their own."""


@pytest.mark.slow
@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_an_injected_cause_is_ranked_first_or_cannot_be_told_from_the_first(cause: Cause) -> None:
    seen = next(((layer, found) for layer, right in sound() if (found := visible(layer, right, cause))), None)
    if seen is None:
        assert cause.name in UNSEEN
        return
    layer, variant = seen
    patch = variant.run.patch(MEMORY)
    diagnosis = diagnose(cases.evidence_of(layer, MEMORY, lambda _: patch))
    first = diagnosis.first
    assert first is not None
    assert first.share == 1.0
    if first.name != cause.name:
        # What is ranked first then predicts the same bytes: no evidence tells the two apart.
        assert len(first.causes) == 1
        assert first.variants[0].run.patch(MEMORY).data.tobytes() == patch.data.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("of", ["line", "surface"])
def test_neighbouring_atoms_that_are_exchanged_are_told_where_the_width_is_odd(of: str) -> None:
    layer = cases.sdp_layer((21, 5, 7))
    layout = layer.dst.layout
    lines = [[h * layout.line_stride_bytes + w * 8 for w in range(7)] for h in range(5)]
    places = lines if of == "line" else [[place for line in lines for place in line]]

    def exchanged(patch: Patch) -> Patch:
        data = patch.data.copy()
        for surface in range(0, 3 * layout.surface_stride_bytes, layout.surface_stride_bytes):
            for row in places:
                for one, other in zip(row[::2], row[1::2], strict=False):
                    first, second = slice(surface + one, surface + one + 8), slice(surface + other, surface + other + 8)
                    data[first], data[second] = patch.data[second], patch.data[first]
        return replace(patch, data=data)

    first = diagnose(cases.evidence_of(layer, MEMORY, exchanged)).first
    assert first is not None
    assert (first.name, first.share) == ("dst-lanes", 1.0)
    assert first.variants[0].detail == f"neighbouring atoms of a {of} swapped"


@pytest.mark.slow
def test_a_convolution_of_fp16_whose_padding_exceeds_a_byte_is_explained() -> None:
    conv = full.fp16_conv()
    layer = replace(conv, params=replace(conv.params, pad_value=FP16.encode(np.array([1.0])).item()))

    def noise(patch: Patch) -> Patch:
        return replace(patch, data=np.random.default_rng(1).integers(0, 256, len(patch.data), dtype=np.uint8))

    assert diagnose(cases.evidence_of(layer, full.fp16_memory(1), noise)).first is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_noise_has_no_cause(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)

    def noise(patch: Patch) -> Patch:
        hit = rng.random(len(patch.data)) < share
        return replace(patch, data=np.where(hit, rng.integers(0, 256, len(patch.data), dtype=np.uint8), patch.data))

    evidence = cases.evidence_of(cases.sdp_layer(), MEMORY, noise)
    assert evidence.wrong.any()
    assert diagnose(evidence).first is None


def test_one_wrong_byte_proves_nothing() -> None:
    def one(patch: Patch) -> Patch:
        data = patch.data.copy()
        data[0] ^= 4
        return replace(patch, data=data)

    assert diagnose(cases.evidence_of(cases.sdp_layer(), MEMORY, one)).first is None


@pytest.mark.slow
def test_a_cause_that_leaves_one_byte_unexplained_is_not_stated() -> None:
    """A hundred bytes that fit do not make up for one that does not."""
    layer = cases.sdp_layer()
    moved = replace(run_of(layer), dst=run_of(layer).dst.moved(64)).patch(MEMORY)
    data = moved.data.copy()
    data[np.flatnonzero(moved.mask)[3]] ^= 0x55
    found = explain(cases.evidence_of(layer, MEMORY, lambda _: replace(moved, data=data)))
    assert found.diagnosis.fits[0].name == "dst-base"
    assert found.diagnosis.fits[0].share > 0.95
    assert (found.diagnosis.probable, found.causes) == (None, ())
    assert found.headline == "no known cause fits"


def fit_of(*names: str, explained: int, wrong: int, cost_bits: float) -> Fit:
    run = sound()[0][1].run
    return Fit(tuple(Variant(BY_NAME[name], "", run, 8.0) for name in names), explained, 0, wrong, cost_bits, b"")


def test_a_few_bytes_do_not_outweigh_a_thousand_variants_that_were_tried() -> None:
    fit = fit_of("dst-base", explained=3, wrong=3, cost_bits=8.0)
    assert Diagnosis((fit,), 8).probable is not None
    assert Diagnosis((fit,), 1000).probable is None


def test_each_half_of_a_pair_must_be_worth_its_bytes() -> None:
    """The second half explains one byte more than the first alone: that is no evidence."""
    alone = fit_of("dst-base", explained=99, wrong=100, cost_bits=18.0)
    both = fit_of("dst-base", "converter-scale", explained=100, wrong=100, cost_bits=16.0)
    assert Diagnosis((both, alone), 100).probable is None
    assert Diagnosis((both, replace(alone, explained=50, cost_bits=508.0)), 100).probable is both


def test_a_pattern_of_lost_writes_is_called_a_symptom() -> None:
    def lost(patch: Patch) -> Patch:
        mask = patch.mask.copy()
        mask[len(mask) // 2 :] = False
        return replace(patch, mask=mask)

    found = explain(cases.evidence_of(cases.sdp_layer(), MEMORY, lost))
    assert found.diagnosis.probable is None
    assert found.causes[0].symptom
    assert found.headline.startswith("symptom: writes lost: ")


def wrote(evidence: Evidence, beats: Beats) -> Evidence:
    """Return the evidence of the same layer, had it written other beats."""
    assert evidence.started is not None
    return from_writes(evidence.started, evidence.layout, evidence.expected, beats, evidence.memory)


def test_what_was_written_elsewhere_is_not_called_lost() -> None:
    """The last surface is written over the second one: twice there, and never at its own place."""
    evidence = cases.evidence_of(cases.copy_layer(), MEMORY)
    assert evidence.beats is not None
    assert not evidence.rewritten
    surface = evidence.walk.steps[0]
    last = evidence.beats.address >= np.uint64(evidence.walk.address + 2 * surface)
    moved = np.where(last, evidence.beats.address - np.uint64(surface), evidence.beats.address)
    found = wrote(evidence, replace(evidence.beats, address=moved))
    assert found.rewritten
    assert not any("lost" in fit.name for fit in diagnose(found).fits)
    first = diagnose(wrote(evidence, evidence.beats.take(~last))).first
    assert first is not None
    assert first.name == "lost-part"


@pytest.mark.parametrize(("size", "kept", "bits"), [(11, 3, 3), (20, 4, 4), (41, 9, 5)])
def test_an_output_that_ends_where_a_narrow_size_would_is_told_so(size: int, kept: int, bits: int) -> None:
    """The bytes from a column on are missing: a symptom, but for the bits that the width would then have."""
    evidence = cases.evidence_of(cases.copy_layer((8, 3, size)), MEMORY)
    assert evidence.beats is not None
    column = (
        (evidence.beats.address - np.uint64(evidence.walk.address)) % np.uint64(evidence.walk.steps[1]) // np.uint64(8)
    )
    first = diagnose(wrote(evidence, evidence.beats.take(column < kept))).first
    assert first is not None
    assert first.name == "dst-narrow-size"
    assert first.variants[0].detail == f"{kept} of {size} columns written, as if {bits} bits of their number were kept"
    other = diagnose(wrote(evidence, evidence.beats.take(column < kept + 1))).first
    assert other is None or other.name != "dst-narrow-size"


def test_what_was_written_nowhere_has_no_wrong_stride() -> None:
    """A hang leaves the last surface out: equal bytes would lie as well where the one before it was written twice."""
    layer = cases.copy_layer()
    evidence = cases.evidence_of(layer, replace(MEMORY, data=np.full_like(MEMORY.data, 5)))
    assert evidence.beats is not None
    last = evidence.beats.address >= np.uint64(evidence.walk.address + 2 * evidence.walk.steps[0])
    hung = wrote(evidence, evidence.beats.take(~last))
    assert hung.lost
    fits = diagnose(hung).fits
    assert fits[0].name == "lost-part"
    assert not any(variant.run.dst.overlaps for fit in fits for variant in fit.variants)
    # The same bytes, one of them written twice, may be those of a wrong stride.
    again = evidence.beats.take(np.concatenate([[0], np.flatnonzero(~last)]))
    fits = diagnose(wrote(evidence, again)).fits
    assert any(variant.run.dst.overlaps for fit in fits for variant in fit.variants)


def test_right_bytes_have_no_cause() -> None:
    diagnosis = diagnose(cases.evidence_of(cases.sdp_layer(), MEMORY))
    assert (diagnosis.fits, diagnosis.first) == ((), None)


def test_a_pair_of_causes_is_found() -> None:
    evidence = cases.evidence_of(cases.sdp_layer(), MEMORY)
    assert evidence.rerun is not None
    bare = next(iter(BY_NAME["converter-scale"].on(evidence, evidence.rerun)))
    both = next(v for v in BY_NAME["dst-line-stride"].on(evidence, bare.run) if "1 atom too large" in v.detail)
    patch = both.run.patch(MEMORY)
    first = diagnose(cases.evidence_of(cases.sdp_layer(), MEMORY, lambda _: patch)).first
    assert first is not None
    assert set(first.name.split("+")) == {"converter-scale", "dst-line-stride"}
    assert first.share == 1.0


@pytest.mark.slow
def test_every_pair_with_an_unsigned_convolution_predicts_the_whole_surface_or_is_dropped() -> None:
    evidence = cases.evidence_of(replace(cases.conv_layer(), conversion=None), MEMORY)
    assert evidence.rerun is not None
    sign_cause = BY_NAME["conv-sign"]
    rows = slice(0, evidence.rerun.dst.shape[1])
    seen = 0
    for sign in sign_cause.on(evidence, evidence.rerun):
        for cause in (cause for cause in CAUSES if cause is not sign_cause):
            for variant in cause.on(evidence, sign.run):
                try:
                    cube = variant.run.cube(MEMORY, rows)
                except InputError:
                    continue
                seen += 1
                assert cube.shape[1:] == variant.run.dst.shape[1:], (sign.detail, cause.name, variant.detail)
    assert seen > 100


def test_an_unknown_engine_still_has_its_result_moved_about() -> None:
    evidence = cases.evidence_of(cases.sdp_layer(), MEMORY)
    forgotten = Bytes.blank([(cases.BASE, cases.BASE + cases.NBYTES)])
    moved = evidence.run.dst.moved(8).write(evidence.cube)
    blind = replace(cases.evidence_of(cases.sdp_layer(), MEMORY, lambda _: moved), memory=forgotten)
    found = explain(blind)
    assert found.causes[0].name == "dst-base"
    assert found.reasons()[-1] == "the layer could not be computed again: only its result was moved about"


def test_causes_that_predict_the_very_same_bytes_are_named_as_equal() -> None:
    layer = cases.copy_layer()
    backwards = run_of(layer).patch(MEMORY)
    cube = layer.dst.layout.unpack_padded(backwards.data)[:, ::-1]
    padded = replace(layer.dst.layout, shape=cube.shape)
    found = explain(cases.evidence_of(layer, MEMORY, lambda patch: replace(patch, data=padded.pack(cube.copy()))))
    assert {fit.name for fit in found.equal} == {"src-order", "dst-order"}
    assert "the same bytes follow from 1 and 2: they cannot be told apart; the simplest is first" in found.reasons()


def test_a_cause_that_alone_predicts_its_bytes_has_no_equal() -> None:
    layer = cases.sdp_layer()
    moved = replace(run_of(layer), dst=run_of(layer).dst.moved(64)).patch(MEMORY)
    found = explain(cases.evidence_of(layer, MEMORY, lambda _: moved))
    assert [fit.name for fit in found.equal] == ["dst-base"]
    assert not any("the same bytes follow" in line for line in found.reasons())


def test_a_cause_that_cannot_change_a_run_has_no_variants_of_it() -> None:
    layer = cases.sdp_layer((8, 5, 6))
    evidence = cases.evidence_of(layer, MEMORY, lambda patch: replace(patch, data=patch.data[::-1].copy()))
    run = evidence.run
    wide = replace(run, dst=replace(run.dst, atom_elements=16))
    assert list(BY_NAME["bus-lanes"].on(evidence, wide)) == [], "8 channels are no whole atoms of 16"


@pytest.mark.parametrize(("name", "end"), [("copy", "src"), ("copy", "dst"), ("pairs", "operand"), ("cube", "dst")])
def test_each_cause_runs_or_is_refused_after_one_that_changes_elements(name: str, end: str) -> None:
    """Bits and bytes of an element are those that it has, whatever its size in memory may be."""

    def last_bit(patch: Patch) -> Patch:
        return replace(patch, data=patch.data ^ 1)

    evidence = cases.evidence_of(LAYERS[name](), MEMORY, last_bit)
    assert evidence.rerun is not None
    tried = 0
    for kind in ("element-size", "sign-bit", "atom"):
        first = BY_NAME.get(f"{end}-{kind}")
        for run in [variant.run for variant in first.on(evidence, evidence.rerun)] if first else []:
            for variant in (last for second in CAUSES for last in list(second.on(evidence, run))[-1:]):
                tried += 1
                with suppress(InputError):
                    variant.run.patch(MEMORY)
    assert tried
