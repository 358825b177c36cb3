"""Simulators of vendors are played by cocotb's own runner; Icarus stands in for their licensed tools."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from nvdla_tb.judge.finding import Check
from nvdla_tb.run.compile import toolchain
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.errors import BuildError, LaunchError, ToolError
from nvdla_tb.run.simulate import SimResult, simulate
from nvdla_tb.run.simulators import SIMULATORS
from tests.stand_in import PROGRAMS, Call, calls, install
from tests.unit.run.compile.conftest import needs_icarus
from tests.unit.run.compile.tiny import CONFIG, write_rtl

pytestmark = pytest.mark.slow
MODULE = "tests.unit.run.compile.launched"


@pytest.fixture(params=PROGRAMS)
def vendor(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A simulator whose programs are in the PATH; ``tmp_path / "tools"`` notes their calls."""
    (tmp_path / "tools").mkdir()
    install(tmp_path / "tools", request.param)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}{os.pathsep}{os.environ['PATH']}")
    # Those who run this may have set them for cocotb's own runner.
    monkeypatch.setenv("WAVES", "1")
    monkeypatch.setenv("GUI", "1")
    toolchain.tool_versions.cache_clear()
    return str(request.param)


def called(tmp_path: Path) -> list[Call]:
    return calls(tmp_path / "tools" / "calls.jsonl")


def play(
    built: Built, testcase: str, work_dir: Path, *, waves: bool = False, plusargs: tuple[str, ...] = ()
) -> SimResult:
    return simulate(
        built,
        test_module=MODULE,
        testcase=testcase,
        env={},
        work_dir=work_dir,
        timeout_seconds=60.0,
        waves=waves,
        plusargs=plusargs,
    )


@needs_icarus
def test_a_test_is_played_with_the_programs_of_a_vendor(vendor: str, tmp_path: Path) -> None:
    built = build(BuildSpec(CONFIG, vendor, filelist=write_rtl(tmp_path / "rtl")), tmp_path / "builds")
    assert {call.program for call in called(tmp_path)} <= set(PROGRAMS[vendor])
    assert {call.folder for call in called(tmp_path)} == {str(built.directory)}
    compiled = " ".join(word for call in called(tmp_path) for word in (*call.words, *call.script))
    for given in ("rtl/include", "FILELIST_STEP=", "-y", "rtl/library", "+libext+.v", "sources.sv"):
        assert given in compiled
    before = len(called(tmp_path))

    passed = play(built, "a_word_comes_back_plus_three", tmp_path / "right", plusargs=("+depth=4",))
    assert passed.passed, passed.log_path.read_text()
    # With VCS it is the model itself that is called.
    for call in called(tmp_path)[before:]:
        assert call.folder == str(tmp_path / "right")
        assert "+depth=4" in " ".join((*call.words, *call.script))
    assert sorted(path.name for path in (tmp_path / "right").iterdir() if "tmpdir" not in path.name) == ["sim.log"]

    failed = play(built, "the_assertion_fails", tmp_path / "wrong")
    assert (failed.check, "a wrong word came back" in failed.message) == (Check.TEST, True)


@needs_icarus
def test_a_model_of_a_vendor_is_built_once_and_writes_vcd(vendor: str, tmp_path: Path) -> None:
    spec = BuildSpec(CONFIG, vendor, filelist=write_rtl(tmp_path / "rtl"), waves=True)
    built = build(spec, tmp_path / "builds")
    again = build(spec, tmp_path / "builds")
    assert (built.cached, again.cached, built.wave_suffix) == (False, True, "vcd")
    result = play(built, "waves_begin_after_20_ns", tmp_path / "run", waves=True, plusargs=("+wave_wait",))
    assert result.passed, result.log_path.read_text()
    times = re.findall(r"^#(\d+)", (tmp_path / "run" / "waves.vcd").read_text(), re.MULTILINE)
    assert min(map(int, times)) >= 20_000


@needs_icarus
def test_rtl_that_a_vendor_refuses_is_an_error_with_its_message(vendor: str, tmp_path: Path) -> None:
    filelist = write_rtl(tmp_path / "rtl", extra_code="`ifdef __ICARUS__\n  missing unknown();\n`endif\n")
    with pytest.raises(BuildError, match=rf"^{vendor} cannot build NV_nvdla:\n(?s:.*)Unknown module type: missing"):
        build(BuildSpec(CONFIG, vendor, filelist=filelist), tmp_path / "builds")


@needs_icarus
def test_the_launcher_sees_the_time_of_a_vendors_simulator(vendor: str, tmp_path: Path) -> None:
    built = build(BuildSpec(CONFIG, vendor, filelist=write_rtl(tmp_path / "rtl")), tmp_path / "builds")
    result = play(built, "the_time_is_shown", tmp_path / "run")
    assert result.passed, result.log_path.read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tool_that_is_missing_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    toolchain.tool_versions.cache_clear()
    tool = SIMULATORS[name]
    message = f"{tool.program} is not in the PATH; {name} is {tool.title}, which you install and license"
    with pytest.raises(ToolError, match=rf"^{re.escape(message)}$"):
        build(BuildSpec(CONFIG, name, filelist=write_rtl(tmp_path / "rtl")), tmp_path / "builds")


def test_a_path_that_cocotb_would_tear_apart_is_refused(vendor: str, tmp_path: Path) -> None:
    folder = tmp_path / "my rtl"
    message = (
        f"with {vendor} a path must have letters, digits and any of /.,@%=-_ alone, "
        f"as cocotb gives paths to it without quotes: not {folder}/NV_nvdla.vlib"
    )
    with pytest.raises(BuildError, match=rf"^{re.escape(message)}$"):
        build(BuildSpec(CONFIG, vendor, filelist=write_rtl(folder)), tmp_path / "builds")


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_only_verilator_can_is_refused_with_others(name: str) -> None:
    for options, message in (
        ({"backend": "native"}, f"backend must be coroutine with {name}, not native: only Verilator builds it"),
        ({"coverage": "line"}, f"coverage must be None with {name}, not line: Verilator counts it"),
        ({"optimised": True}, f"an optimised model must be built by verilator, not {name}"),
    ):
        with pytest.raises(LaunchError, match=rf"^{re.escape(message)}$"):
            BuildSpec(CONFIG, name, **options)  # type: ignore[arg-type]
