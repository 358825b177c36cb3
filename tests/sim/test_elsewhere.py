"""A read-only checkout in a folder with a blank and an umlaut, used by another user who has next to nothing.

No home, umask 077, the C locale; the Python packages and the results lie elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.repository import ROOT, UNOPTIMISED
from tests.unit.run.compile.tiny import write_rtl

SCRIPT = """#!/bin/sh
exec "$(dirname "$0")/python" -m nvdla_tb "$@"
"""

USER = "nobody"
ONE = "sdp_pass_through_one_element"
DROP = ("setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups", "--no-new-privs")


@dataclass(frozen=True)
class Elsewhere:
    """A checkout that its user cannot write to, and the folder of everything that the user makes."""

    checkout: Path
    own: Path

    @property
    def python(self) -> str:
        """The Python of its user."""
        return str(self.own / "ein venv" / "bin" / "python")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the checkout as the other user."""
        environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            "NVDLA_RESULTS": str(self.own / "Ergebnisse für alle"),
            "NVDLA_CACHE": str(self.own / "alle Modelle"),
            "VENV": str(self.own / "ein venv"),
        }
        words = [*DROP, "sh", "-c", 'umask 077; exec "$@"', "sh", *command]
        ran = subprocess.run(
            words,
            cwd=self.checkout,
            env=environment,
            capture_output=True,
            check=False,
            timeout=900,
            stdin=subprocess.DEVNULL,
        )
        said = [text.decode("utf-8", errors="replace") for text in (ran.stdout, ran.stderr)]
        return subprocess.CompletedProcess(words, ran.returncode, *said)

    def check(self, *command: str) -> str:
        """Run a command that must succeed, and return what it printed."""
        ran = self.run(*command)
        assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout


def usable_python() -> str | None:
    """Return a Python of this version that the other user can start."""
    names = (getattr(sys, "_base_executable", sys.executable), f"/usr/bin/python3.{sys.version_info.minor}")
    for name in names:
        # Only with the second exec all capabilities of root are gone.
        command = [*DROP, "sh", "-c", 'exec "$@"', "sh", name, "-c", "import venv"]
        started = subprocess.run(command, capture_output=True, check=False, cwd="/")
        if started.returncode == 0:
            return name
    return None


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed (apt-get install util-linux)")
    python = usable_python()
    if python is None:
        pytest.skip(f"no Python 3.{sys.version_info.minor} that {USER} can start")
    packages = Path(sysconfig.get_paths()["purelib"])
    if subprocess.run([*DROP, "ls", str(packages)], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{USER} cannot read {packages}")
    folder = Path(tempfile.mkdtemp(prefix="Ordner mit Ü "))
    try:
        folder.chmod(0o755)
        own, checkout = folder / "eigenes", folder / "das Projekt"
        own.mkdir()
        shutil.chown(own, USER, "nogroup")
        kept = ("tb", "models", "tests", "hdl_stubs", "docs")
        for name in kept:
            shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("Makefile", "pyproject.toml", "requirements.txt", "README.md"):
            shutil.copy(ROOT / name, checkout)
        subprocess.run(["chmod", "-R", "a+rX,a-w", str(checkout)], check=True)
        found = Elsewhere(checkout, own)
        # The packages are those of this Python, which the other user may be unable to start.
        found.check(python, "-m", "venv", "--without-pip", str(own / "ein venv"))
        (site,) = (own / "ein venv").glob("lib/python3.*/site-packages")
        # Python reads such a file in the encoding of the locale, in which the umlaut does not exist.
        paths = ascii([str(path) for path in (packages, checkout / "tb", checkout / "models")])
        (site / "packages.pth").write_text(f"import sys; sys.path += {paths}\n", encoding="ascii")
        program = own / "ein venv" / "bin" / "nvdla-tb"
        program.write_text(SCRIPT, encoding="utf-8")
        program.chmod(0o755)
        (own / "ein venv" / "ready").touch()
        yield found
    finally:
        shutil.rmtree(folder)


def test_make_plays_and_leaves_nothing_in_the_checkout(elsewhere: Elsewhere, simulator: str) -> None:
    before = sorted(elsewhere.checkout.rglob("*"))
    assert "4 passed, 0 failed, 0 refused" in elsewhere.check("make", "regress", f"SIM={simulator}", "LEVEL=L0")
    assert "run 1" in elsewhere.check(elsewhere.python, "-m", "nvdla_tb", "coverage")
    results = elsewhere.own / "Ergebnisse für alle"
    assert (results / "regress" / "0001" / "index.html").is_file()
    assert [path for path in results.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o077] == []
    assert sorted(elsewhere.checkout.rglob("*")) == before


def test_verilator_builds_a_device_of_a_few_lines_on_which_every_scenario_fails(elsewhere: Elsewhere) -> None:
    filelist = write_rtl(elsewhere.own / "ein Gerät")
    words = ("-m", "nvdla_tb", "run", "--rtl", str(filelist), "--backend", "coroutine", "--only", ONE)
    ran = elsewhere.run("env", f"MAKEFLAGS={UNOPTIMISED}", elsewhere.python, *words)
    failed = r"^0 passed, 1 failed \(1 [a-z ]+\), 0 refused$"
    assert re.search(failed, ran.stdout, re.MULTILINE), f"{ran.stdout}\n{ran.stderr}"


def test_unit_tests_pass(elsewhere: Elsewhere) -> None:
    rooms = (
        "tests/unit/run/compile/test_folders.py",
        "tests/unit/run/regress/test_store.py",
        "tests/unit/stimulus/trace/test_files.py",
    )
    base = f"--basetemp={elsewhere.own / 'temp'}"
    assert " passed" in elsewhere.check(elsewhere.python, "-m", "pytest", "-p", "no:cacheprovider", base, *rooms)


def test_make_says_in_one_line_that_results_cannot_be_made(elsewhere: Elsewhere) -> None:
    ran = elsewhere.run("make", "run", f"NVDLA_RESULTS={elsewhere.checkout}/sim_build")
    assert ran.returncode == 2
    assert f"error: {elsewhere.checkout}/sim_build/runs cannot be made: Permission denied" in ran.stderr
    assert "DUT:" not in ran.stdout, "nothing is built first"
    assert "Traceback" not in ran.stderr
