"""Optimised models are compiled by what they played, and taken as soon as they are there."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_tb.run.choices import OPTIMISED, QUICK
from nvdla_tb.run.compile import build as build_module
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.errors import BuildError, LaunchError
from nvdla_tb.run.optimise import Model, Optimiser, optimised
from nvdla_tb.stimulus.result import Dut
from tests.repository import UNOPTIMISED
from tests.unit.run.compile.test_build import run_tiny
from tests.unit.run.compile.tiny import CONFIG, write_rtl

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def quickly() -> Iterator[None]:
    """Compile without optimisation: what matters here is which way models are built, not how fast they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAKEFLAGS", UNOPTIMISED)
        for name in ("PROFILING", "PROFILED"):
            patch.setattr(build_module, name, getattr(build_module, name).replace("-O3", "-O0"))
        yield


@pytest.fixture(scope="module")
def dut(tmp_path_factory: pytest.TempPathFactory) -> Dut:
    """A device of the tiny RTL, on which every scenario fails."""
    return Dut("nv_small", "verilator", str(write_rtl(tmp_path_factory.mktemp("optimised"))))


@pytest.fixture(scope="module")
def root(dut: Dut) -> Path:
    """The folder with its quick and its optimised model, whose training leaves no profile at first."""
    folder = Path(dut.rtl or "").parent / "builds"
    spec, trained = replace(build_spec(dut, waves=False), optimised=True), list[Built]()
    with pytest.raises(BuildError, match=r"^training on NV_nvdla left no profile, so that it cannot be optimised$"):
        build(spec, folder, train=trained.append)
    assert [model.spec for model in trained] == [spec], "training is played on the model that counts"
    optimised(dut, folder)
    build(build_spec(dut, waves=False), folder)
    return folder


def test_a_model_is_compiled_again_by_the_profile_of_what_it_played(dut: Dut, root: Path, tmp_path: Path) -> None:
    model = optimised(dut, root)

    assert model.cached
    assert any(model.directory.rglob("*.gcda"))
    log = (model.directory / "build.log").read_text()
    assert log.index("-fprofile-generate") < log.index("-fprofile-use")
    assert run_tiny(model, tmp_path) == ""
    assert build(build_spec(dut, waves=False), root).directory != model.directory


def test_an_optimised_model_needs_verilator_and_something_to_play(rtl: Path, tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"^an optimised model must be built with something to play in training$"):
        build(BuildSpec(CONFIG, filelist=rtl, optimised=True), tmp_path / "builds")
    with pytest.raises(LaunchError, match=r"^an optimised model must be built by verilator, not icarus$"):
        BuildSpec(CONFIG, "icarus", filelist=rtl, optimised=True)


def test_the_optimised_model_is_taken_when_it_is_there(dut: Dut, root: Path) -> None:
    assert Model(dut, root).current().spec.optimised
    assert not Model(dut, root, QUICK).current().spec.optimised
    assert Model(dut, root, OPTIMISED).current().spec.optimised


def test_play_changes_over_once_the_optimised_model_is_ready(dut: Dut, root: Path, tmp_path: Path) -> None:
    own = tmp_path / "builds"
    own.mkdir()
    for built in root.iterdir():
        if not re.search("optimised", built.name):
            (own / built.name).symlink_to(built)
    model = Model(dut, own)
    assert not model.current().spec.optimised

    for built in root.iterdir():
        if not (own / built.name).exists():
            (own / built.name).symlink_to(built)
    assert model.current().spec.optimised


def test_a_long_run_starts_the_build_and_a_short_one_does_not(dut: Dut, root: Path) -> None:
    short, long = (Optimiser(dut, root, pays_from_seconds=100.0) for _ in range(2))
    short.ended(2.0, left=49)
    long.ended(2.0, left=51)
    assert (short.started, long.started) == (False, True)
    long.close()
    assert long.refusal is None


def test_the_end_of_a_run_ends_its_build(dut: Dut, tmp_path: Path) -> None:
    optimiser = Optimiser(dut, tmp_path / "builds", pays_from_seconds=0.0)
    optimiser.ended(1.0, left=1)
    started = time.monotonic()
    optimiser.close()
    assert time.monotonic() - started < 15
    assert optimiser.refusal is None
    assert not Model(dut, tmp_path / "builds", QUICK).current().spec.optimised
    assert not list((tmp_path / "builds").glob("*optimised*/built.json"))


def test_rtl_that_cannot_be_built_is_no_reason_to_end_a_run(dut: Dut, tmp_path: Path) -> None:
    filelist = write_rtl(tmp_path / "rtl", extra_code="  wire unfinished = ;\n")
    broken = Dut(dut.config, dut.simulator, str(filelist))
    optimiser = Optimiser(broken, tmp_path / "builds", pays_from_seconds=0.0)
    optimiser.ended(1.0, left=1)
    deadline = time.monotonic() + 60
    while optimiser.refusal is None and time.monotonic() < deadline:
        time.sleep(0.1)
    optimiser.close()
    assert "syntax error" in (optimiser.refusal or "")
