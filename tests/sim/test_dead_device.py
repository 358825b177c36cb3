"""A device that takes no requests, ends the simulation, answers anything or writes what it has not read fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_tb.judge.detail import Hang, NoAnswer, NothingRead
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.simulate import SharedProcess
from nvdla_tb.stimulus.result import Result
from tests.sim.conftest import SMALL_DEVICES, played
from tests.sim.dead_device import SCENARIO, built_device


@pytest.fixture(scope="module", params=SMALL_DEVICES)
def device(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A device that only takes requests, which plusargs make fail."""
    return built_device(tmp_path_factory.mktemp("device"), *request.param)


def play(device: Built, folder: Path, *plusargs: str, shared: bool = False) -> Result:
    process = SharedProcess(device, folder / "process", plusargs) if shared else None
    return played(device, folder / "it", SCENARIO, *plusargs, process=process)


def test_a_device_that_takes_no_requests_hangs(device: Built, tmp_path: Path) -> None:
    result = play(device, tmp_path, "+deaf")
    assert result.ending is Ending.HANG, result
    assert complaints(result.verdict)[0].startswith("CSB did not accept the write of ")
    assert result.verdict.cycles > 0


def test_a_device_whose_interrupt_cannot_be_served_hangs(device: Built, tmp_path: Path) -> None:
    result = play(device, tmp_path, "+rings", "+deaf")
    assert result.ending is Ending.HANG, result
    assert complaints(result.verdict)[0].startswith("CSB did not ")
    lost = [found for found in result.verdict.findings if isinstance(found.detail, NoAnswer)]
    assert [found.check for found in lost] == [Check.HANG]


@pytest.mark.parametrize("plusargs", [("+reads",), ("+reads", "+writes")], ids=["reads", "reads and writes"])
def test_a_device_that_moves_memory_without_end_hangs(device: Built, tmp_path: Path, plusargs: tuple[str, ...]) -> None:
    result = play(device, tmp_path, *plusargs)
    assert result.ending is Ending.HANG, result
    (hang,) = [found.detail for found in result.verdict.findings if isinstance(found.detail, Hang)]
    assert 16384 < hang.in_vain <= 3 * hang.quiet_cycles
    said = [line for line in complaints(result.verdict) if line.startswith("hang: ")]
    assert said[0].startswith(
        f"hang: {hang.in_vain} requests and beats of memory in vain for {hang.quiet_cycles} cycles"
    )


@pytest.mark.parametrize("plusarg", ["+finishes", "+stops"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_device_that_ends_the_simulation_crashes(device: Built, tmp_path: Path, plusarg: str, shared: bool) -> None:
    if shared and not device.spec.native:
        pytest.skip("only the native back end shares processes")
    result = play(device, tmp_path, plusarg, shared=shared)
    assert result.ending is Ending.CRASH, result
    said = ("the device ended the simulation", "the device gives up", "$stop")
    assert any(word in line for word in said for line in complaints(result.verdict)), result


def hang_of(result: Result) -> Hang:
    """Require a hang, and return it."""
    assert result.ending is Ending.HANG, result
    (hang,) = [found.detail for found in result.verdict.findings if isinstance(found.detail, Hang)]
    return hang


def test_a_device_that_takes_everything_and_answers_nothing_hangs(device: Built, tmp_path: Path) -> None:
    assert hang_of(play(device, tmp_path)).waiting_for == ("SDP_0",)


def test_a_device_that_answers_0_and_rings_hangs_and_the_wait_is_named(device: Built, tmp_path: Path) -> None:
    hang = hang_of(play(device, tmp_path, "+answers", "+rings"))
    assert (hang.waiting_for, hang.interrupt_status, hang.in_vain) == (("SDP_0",), 0, 0)
    assert SCENARIO.settings.hang_cycles <= hang.quiet_cycles <= 2 * SCENARIO.settings.hang_cycles


def test_a_device_that_answers_0_and_never_rings_hangs(device: Built, tmp_path: Path) -> None:
    hang = hang_of(play(device, tmp_path, "+answers"))
    assert (hang.waiting_for, hang.interrupt_status) == (("SDP_0",), None)


def test_a_device_that_answers_ones_and_rings_owes_the_bytes(device: Built, tmp_path: Path) -> None:
    result = play(device, tmp_path, "+answers", "+rings", "+ones")
    assert result.ending is Ending.MISMATCH, result
    checks = [found.check for found in result.verdict.findings]
    assert Check.MISSING in checks
    assert len(checks) < 100


def test_a_device_that_writes_right_bytes_without_reading_is_found(device: Built, tmp_path: Path) -> None:
    result = play(device, tmp_path, "+answers", "+copies")
    assert result.ending is Ending.PROTOCOL, result
    assert [(found.check, found.detail) for found in result.verdict.findings] == [(Check.MEMORY, NothingRead())]
    assert result.verdict.judged_bytes > 0
