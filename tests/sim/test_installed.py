"""The wheel alone, in an environment of its own: the command plays from an empty folder, without the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from nvdla_tb import __version__
from tests.repository import ROOT

SOURCES = ("tb", "models", "hdl_stubs")
PACKAGES = {"nvdla_tb", "nvdla_models", "nvdla_networks", "nvdla_score", "nvdla_steer", "dlhdl_tb", "dlhdl_models"}


class Installed:
    """An environment with the wheel, and an empty folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.environment, self.work = folder / "environment", folder / "work"
        self.work.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.environment)], check=True)
        (self.site,) = self.environment.glob("lib/python3.*/site-packages")
        # The packages that it needs are those of this Python; none of them is the testbench.
        (self.site / "shared.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n", encoding="utf-8")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the empty folder."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NVDLA", "VIRTUAL"))
        }
        program = str(self.environment / "bin" / command[0])
        return subprocess.run(
            [program, *command[1:]], cwd=self.work, env=kept, capture_output=True, text=True, check=False, timeout=900
        )

    def check(self, *command: str) -> str:
        """Return what a program printed that must succeed."""
        ran = self.run(*command)
        assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"
    for name in SOURCES:
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    found = Installed(folder)
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    found.check("python", "-m", "pip", "install", *options, str(source))
    shutil.rmtree(source)
    return found


def test_the_packages_are_installed_whole_and_nothing_else_is(installed: Installed) -> None:
    own = {path.name for path in installed.site.iterdir() if not path.name.startswith("__")}
    assert {name for name in own if not name.endswith((".dist-info", ".pth"))} == PACKAGES
    folders = [path for top in ("tb", "models") for path in (ROOT / top).iterdir() if path.name in PACKAGES]
    assert len(folders) == len(PACKAGES)
    for folder in folders:
        known = {path.relative_to(folder) for path in folder.rglob("*") if "__pycache__" not in path.parts}
        found = {path.relative_to(installed.site / folder.name) for path in (installed.site / folder.name).rglob("*")}
        assert known <= found, "every file of the checkout is there"
    known = {path.relative_to(ROOT / "hdl_stubs") for path in (ROOT / "hdl_stubs").rglob("*")}
    stubs = installed.site / "nvdla_tb" / "hdl_stubs"
    assert known == {path.relative_to(stubs) for path in stubs.rglob("*")}


def test_the_command_plays_and_judges_and_names_itself(installed: Installed, simulator: str) -> None:
    said = installed.check("nvdla-tb", "run", "--sim", simulator, "--only", "sdp_pass_through_one_element,pdp_max_2x2")
    assert "2 passed, 0 failed, 0 refused" in said
    assert f"the gate is: nvdla-tb regress plan --level L1 --config nv_small --sim {simulator}" in said
    assert len(list(installed.work.glob("sim_build/runs/nv_small*/index.html"))) == 1


def test_the_plan_and_a_test_in_python_of_the_gate_are_there(installed: Installed, simulator: str) -> None:
    options = ("--sim", simulator, "--level", "L1", "--jobs", "1", "--no-waves")
    only = "interfaces.a_read_answers_*,sdp_pass_through_one_element"
    said = installed.check("nvdla-tb", "regress", "plan", *options, "--only", only)
    assert " passed, 0 failed, 0 refused" in said
    (path,) = installed.work.glob("sim_build/regress/*/index.html")
    page = path.read_text(encoding="utf-8")
    assert "interfaces.a_read_answers_" in page
    assert "sdp_pass_through_one_element" in page


def shown(page: str, language: str) -> str:
    """Return what a page shows in a language; it shows one such file."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return str(block)


def test_pytest_plays_the_plan_and_the_test_in_python_of_the_first_day(installed: Installed, simulator: str) -> None:
    (installed.work / "mine").mkdir()
    (installed.work / "mine" / "test_relu.py").write_text(shown("first-day.md", "python"), encoding="utf-8")
    (installed.work / "mine" / "plan.toml").write_text(shown("first-day.md", "toml"), encoding="utf-8")
    filelist = installed.site / "nvdla_tb" / "hdl_stubs" / "nv_small.f"
    said = installed.check("python", "-m", "pytest", "--rtl", str(filelist), "--nvdla-sim", simulator, "mine")
    assert "2 passed" in said
    (folder,) = (installed.work / "sim_build" / "runs").glob("pytest-*")
    assert (folder / "sdp_bias.1" / "result.json").is_file()
    assert (folder / "test_relu.relu_with_a_half_filled_last_surface.0" / "sim.log").is_file()


def test_an_example_passes_as_it_stands_in_the_checkout(installed: Installed, simulator: str) -> None:
    files = [ROOT / "examples" / name for name in ("test_fault.py", "test_pdp.py")]
    (installed.work / "examples").mkdir()
    for path in files:
        shutil.copy(path, installed.work / "examples")
    options = ("--nvdla", "--nvdla-sim", simulator)
    said = installed.check("python", "-m", "pytest", *options, *(f"examples/{path.name}" for path in files))
    tests = sum(path.read_text(encoding="utf-8").count("@cocotb.test()") for path in files)
    assert f" {tests} passed in " in said


def test_a_shell_completes_commands(installed: Installed) -> None:
    assert "complete -o nospace" in installed.check("nvdla-tb", "--print-completion", "bash")


def test_the_version_is_that_of_the_package(installed: Installed) -> None:
    code = "from importlib.metadata import version; print(version('nvdla-testbench'))"
    assert installed.check("python", "-c", code) == f"{__version__}\n"
    assert installed.check("nvdla-tb", "--version").startswith(f"nvdla-testbench {__version__}\n")


def test_a_name_of_the_user_does_not_collide(installed: Installed) -> None:
    for name in ("tb", "models", "tests"):
        (installed.work / name).mkdir(exist_ok=True)
        (installed.work / name / "__init__.py").write_text("raise RuntimeError('mine')\n", encoding="utf-8")
    assert "sdp_pass_through_one_element" in installed.check("python", "-m", "nvdla_tb", "run", "--list")
