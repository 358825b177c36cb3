"""The compiled agents and the coroutines give the same verdict, cycle by cycle, from the same seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import BadAccess, Hang, PollExpired, WrongRegister
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.program.ops import InterruptNotify, MemLoad, Poll, RegRead
from nvdla_tb.run.choices import BACKENDS
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings
from nvdla_tb.stimulus.trace import write
from tests.sim.conftest import SCENARIOS_FOLDER, planned, play_module

CONFIG = HwConfig.load("nv_small")
STRESS = PortSettings(latency_cycles=9, jitter_cycles=30, ready_stall=0.3, valid_stall=0.3, reorder=True)


SETTINGS = {
    "default": BenchSettings(),
    "no latency": BenchSettings(port=PortSettings(latency_cycles=0)),
    "stress": BenchSettings(csb_stall=0.4, port=STRESS),
    "several outstanding": BenchSettings(csb_outstanding=3, csb_stall=0.4),
    "reorder without jitter": BenchSettings(port=msgspec.structs.replace(STRESS, jitter_cycles=0, latency_cycles=40)),
    "in order with jitter": BenchSettings(port=msgspec.structs.replace(STRESS, reorder=False, ready_stall=0.7)),
    "pauses": BenchSettings(
        port=msgspec.structs.replace(STRESS, pause_cycles=90, pause_period_cycles=200, write_latency_cycles=77)
    ),
    "named pauses": BenchSettings(
        port=PortSettings(2, pause_cycles=140, pause_period_cycles=150, pause_channels="aw r")
    ),
}
PLAYED = ("sdp_back_to_back_in_both_groups", "sdp_and_pdp_at_once")

Alike = Callable[[str], Verdict]
"""Requires that both back ends recorded the same of a scenario, and returns the verdict."""


def scenarios() -> dict[str, Scenario]:
    """Return what both back ends play, by the name of its folder."""
    short = planned("sdp_pass_through_full_atom", 2)
    first = next(op for op in short.ops if isinstance(op, MemLoad))
    polls = (RegRead("GLB.S_NVDLA_HW_VERSION", expected=0x12), *short.ops, Poll("GLB.S_INTR_STATUS", 1))
    return {
        **{
            f"{name} {label}": replace(planned(name, 5), settings=settings)
            for name in PLAYED
            for label, settings in SETTINGS.items()
        },
        "poisoned": replace(short, ops=tuple(op for op in short.ops if op != first)),
        "hang": replace(
            short, ops=(*short.ops, InterruptNotify("SDP", 1, "never")), settings=BenchSettings(hang_cycles=2000)
        ),
        "polls": replace(short, ops=polls, settings=BenchSettings(poll_deadline_cycles=500)),
        "registers": planned("registers_distinct_outstanding_throttled", plan="nv_small_registers"),
        "counters": planned("corners_conv_counters", plan="nv_small_corners"),
    }


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> Alike:
    """Play all scenarios on both back ends."""
    folder, played = tmp_path_factory.mktemp("scenarios"), scenarios()
    for name, scenario in played.items():
        write(scenario, folder / name)
    works = [tmp_path_factory.mktemp(backend) for backend in BACKENDS]
    for work, backend in zip(works, BACKENDS, strict=True):
        model = build(BuildSpec(CONFIG, backend=backend))
        problems, log = play_module(model, "tests.sim.backends", work, **{SCENARIOS_FOLDER: str(folder)})
        assert list(problems.values()) == [""] * len(played), log.read_text(encoding="utf-8")

    def compared(name: str) -> Verdict:
        verdict, other = (msgspec.json.decode((work / f"{name}.json").read_bytes(), type=Verdict) for work in works)
        assert other == verdict
        with np.load(works[0] / f"{name}.npz") as writes, np.load(works[1] / f"{name}.npz") as others:
            for column in writes.files:
                np.testing.assert_array_equal(others[column], writes[column], err_msg=column)
        return verdict

    return compared


@pytest.mark.parametrize("label", SETTINGS)
@pytest.mark.parametrize("name", PLAYED)
def test_every_write_has_the_same_cycle_and_id(alike: Alike, name: str, label: str) -> None:
    verdict = alike(f"{name} {label}")
    assert verdict.ending is Ending.PASSED
    assert verdict.judged_bytes > 0


def test_poisoned_reads_and_stray_writes_are_reported_alike(alike: Alike) -> None:
    verdict = alike("poisoned")
    assert verdict.ending.is_failure
    assert verdict.memory_faults > 0
    accesses = [finding.detail for finding in verdict.findings if finding.check is Check.MEMORY]
    assert any(isinstance(access, BadAccess) and access.outside for access in accesses)


def test_a_hang_is_reported_alike(alike: Alike) -> None:
    verdict = alike("hang")
    assert verdict.ending is Ending.HANG
    (finding,) = verdict.findings
    assert isinstance(finding.detail, Hang)
    assert (finding.detail.quiet_cycles, finding.detail.waiting_for) == (2000, ("SDP_1",))
    assert finding.cycle is not None


def test_polls_and_unexpected_values_are_reported_alike(alike: Alike) -> None:
    verdict = alike("polls")
    read, poll = verdict.findings
    assert (read.check, read.detail) == (
        Check.REGISTER,
        WrongRegister("GLB.S_NVDLA_HW_VERSION", 0x12, 0x303031, "major"),
    )
    assert read.cycle is not None
    assert poll.detail == PollExpired("GLB.S_INTR_STATUS", "equal", expected=1, got=0, deadline_cycles=500)
    assert poll.check is Check.REGISTER


@pytest.mark.parametrize(
    ("simulator", "backend", "message"),
    [
        ("icarus", "native", "backend must be coroutine with icarus, not native: only Verilator builds it"),
        ("verilator", "python", "backend must be one of native, coroutine, not python"),
    ],
)
def test_a_back_end_that_cannot_be_is_refused(simulator: str, backend: str, message: str) -> None:
    with pytest.raises(LaunchError, match=f"^{message}$"):
        BuildSpec(CONFIG, simulator, backend=backend)


def test_counters_are_judged(alike: Alike) -> None:
    verdict = alike("counters")
    assert verdict.failures == []
    assert verdict.counters == 61, (
        "of both groups of a convolution with SDP, twice, and of SDP alone, as far as they are known"
    )


def test_registers_with_several_accesses_outstanding_read_alike(alike: Alike) -> None:
    verdict = alike("registers")
    assert verdict.failures == []
    assert verdict.registers > 0
