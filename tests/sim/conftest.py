"""Builds of the embedded DUT, once per simulator and back end, for all tests that simulate."""

from __future__ import annotations

import ast
import re
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.paths import PLANS
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.runners import simulation
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.jobs import Job, Setup, run_job
from nvdla_tb.run.process import supervise
from nvdla_tb.run.simulate import SharedProcess, simulate
from nvdla_tb.run.system import AnyScenario
from nvdla_tb.stimulus.exchange import REQUEST, Request
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.result import Dut, Result
from nvdla_tb.stimulus.scenario import Scenario
from tests.repository import UNOPTIMISED

SCENARIOS_FOLDER = "NVDLA_SCENARIOS_FOLDER"
"""The variable that tells backends.py the folder with a folder for each scenario."""

MODULE_SECONDS = 240
"""Deadline of all cocotb tests of a module on one simulator."""


def coroutines_of(module: str) -> list[str]:
    """Return the cocotb tests of a module, by the name that it is imported by, without importing cocotb."""
    found = find_spec(module)
    assert found is not None, module
    assert found.origin is not None, module
    return [
        node.name
        for node in ast.parse(Path(found.origin).read_text(encoding="utf-8")).body
        if isinstance(node, ast.AsyncFunctionDef) and node.decorator_list
    ]


needs_icarus = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="Icarus is not installed (apt-get install iverilog)"
)


@pytest.fixture(scope="session")
def simulator() -> str:
    """For models that no other test needs: Icarus builds in a second what takes Verilator a minute."""
    return "verilator" if shutil.which("iverilog") is None else "icarus"


NATIVE = pytest.param(("verilator", "native"), id="native")
ICARUS = pytest.param(("icarus", "coroutine"), id="icarus", marks=needs_icarus)
"""(simulator, back end)"""

SMALL_DEVICES = (NATIVE, ICARUS)
"""Once a back end, for devices of a few lines: Icarus builds at once and knows X."""


@pytest.fixture(scope="session", params=[NATIVE, pytest.param(("verilator", "coroutine"), id="coroutine")])
def model(request: pytest.FixtureRequest) -> Built:
    """Return the embedded nv_small, once a back end; Icarus plays the same coroutines, but slowly."""
    simulator, backend = request.param
    return build(BuildSpec(HwConfig.load("nv_small"), simulator, backend=backend))


def build_unoptimised(spec: BuildSpec) -> Built:
    """Return the model of a device that plays a few scenarios, and that only tests have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAKEFLAGS", UNOPTIMISED)
        return build(spec)


def setup_of(built: Built, seconds: float = 300) -> Setup:
    """Return what plays jobs on a model."""
    spec = built.spec
    rtl, port_map = (None if path is None else str(path) for path in (spec.filelist, spec.port_map))
    dut = Dut(spec.config.name, spec.simulator, rtl, spec.top, port_map, spec.debug, spec.backend)
    return Setup(built, dut, seconds)


def job_of(scenario: AnyScenario, *plusargs: str) -> Job:
    """Return the job of a scenario."""
    return Job(scenario.name, scenario.seed, "rerun", lambda: scenario, plusargs=plusargs)


def planned(name: str, seed: int = 1, plan: str = "nv_small", config: str = "nv_small") -> Scenario:
    """Return a scenario of a plan, which is written for nv_small, for a configuration."""
    (entry,) = (entry for entry in load_plan(PLANS / f"{plan}.toml") if entry.name == name)
    return entry.build(HwConfig.load(config), seed)


def played(
    built: Built, folder: Path, scenario: AnyScenario, *plusargs: str, process: SharedProcess | None = None
) -> Result:
    """Play a scenario on a model in a folder that is new or empty."""
    return run_job(job_of(scenario, *plusargs), setup_of(built), folder, process)


def simulated(
    built: Built, module: str, test: str, folder: Path, *plusargs: str, request: Request | None = None, **env: str
) -> None:
    """Play one cocotb test of a module that can be imported, and require that it passes."""
    asked = request or Request(built.spec.config.name)
    result = simulate(
        built,
        test_module=module,
        testcase=test,
        env={REQUEST: asked.encode(), **env},
        work_dir=folder,
        timeout_seconds=MODULE_SECONDS,
        waves=built.spec.waves,
        plusargs=plusargs,
    )
    assert result.passed, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"


InSimulation = Callable[[Built, str, str], None]
"""Requires that a cocotb test passed for all parameters: the model, the module's import name, the test's name."""


def play_module(built: Built, module: str, folder: Path, *plusargs: str, **env: str) -> tuple[dict[str, str], Path]:
    """Play all cocotb tests of a module in one simulator process, whose start takes longer than most.

    Returns:
        By test why it did not pass, empty when it did; and the log.
    """
    results, log = folder / "results.xml", folder / "sim.log"
    # No filter: all tests of the module.
    asked = {REQUEST: Request(built.spec.config.name).encode(), "COCOTB_TEST_FILTER": "", **env}
    arguments = [] if built.spec.simulator == "verilator" else ["-none"]
    command, environment = simulation(built, module, "", asked, results, [*arguments, *plusargs])
    supervise(command, cwd=folder, environment=environment, log_path=log, timeout_seconds=MODULE_SECONDS)
    assert results.is_file(), log.read_text(encoding="utf-8")
    return {str(case.get("name")): problem(case) for case in ElementTree.parse(results).iter("testcase")}, log


@pytest.fixture(scope="session")
def in_simulation(tmp_path_factory: pytest.TempPathFactory) -> InSimulation:
    """Ask for cocotb tests of modules that are played once on each model."""

    @cache
    def played(built: Built, module: str) -> tuple[dict[str, str], Path]:
        return play_module(built, module, tmp_path_factory.mktemp(module))

    def passed(built: Built, module: str, name: str) -> None:
        problems, log = played(built, module)
        ran = [test for test in problems if test.partition("/")[0] == name]
        assert ran, f"{name} did not run: {log.read_text(encoding='utf-8')}"
        for test in ran:
            assert problems[test] == "", f"{test}: {problems[test]}\n{part_of(log, f'{module}.{test}')}"

    return passed


def problem(case: ElementTree.Element) -> str:
    """Return why a test of a result file did not pass; empty when it did."""
    found = [case.find(kind) for kind in ("failure", "error", "skipped")]
    return next((f"{one.tag}: {one.get('message') or one.get('error_msg')}" for one in found if one is not None), "")


def part_of(log: Path, test: str) -> str:
    """Return what a log says between the start and the end of a test."""
    text = log.read_text(encoding="utf-8")
    found = re.search(rf"running {re.escape(test)} \(.*?(?=cocotb.regression +running |\Z)", text, re.DOTALL)
    return found.group() if found else text
