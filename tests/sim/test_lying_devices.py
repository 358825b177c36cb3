"""No command says anything good of a device that does nothing, answers 0, or writes what it has not read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from nvdla_tb.cli.main import main
from nvdla_tb.stimulus.trace import write
from tests.repository import ROOT, UNOPTIMISED
from tests.sim.dead_device import SCENARIO, write_device
from tests.unit.networks.loadables import SHAPE, copying

NOTHING: tuple[str, ...] = ()
ZEROS = ("--plusarg", "+answers")
COPIES = ("--plusarg", "+answers", "--plusarg", "+copies")
LIES = pytest.mark.parametrize("lie", [NOTHING, ZEROS, COPIES], ids=["does nothing", "answers 0", "does not read"])
PRAISE = re.compile(
    r"\b(?!0 )\d+ passed\b|(?<!0 )(?<!nothing )\bpassed\b|(?<!elements )\bequal\b(?! )|\bcomplies\b|all green",
    re.IGNORECASE,
)
GOOD = re.compile(r'class="good"(?! style="width:0.00%")')

ONE = "sdp_pass_through_full_atom"
COCOTB_TEST = """
import cocotb

from nvdla_tb import Bench, BenchSettings, Sdp


@cocotb.test()
async def relu(dut):
    bench = await Bench.start(dut, settings=BenchSettings(hang_cycles=4000))
    src = bench.place(bench.rng.integers(-128, 128, (8, 2, 2), dtype="int8"))
    await bench.run(Sdp(src, bench.reserve((8, 2, 2)), relu=True))
"""


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_device(tmp_path_factory.mktemp("device"))


@pytest.fixture
def options(device: Path, lie: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the options that mean the device, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAKEFLAGS", UNOPTIMISED)
    return ["--rtl", str(device), *lie]


def condemned(folder: Path, said: str) -> None:
    """Require that neither an output nor any page or report below a folder is good in any part."""
    assert PRAISE.search(said) is None, said
    for report in folder.rglob("*.xml"):
        for case in ElementTree.parse(report).iter("testcase"):
            told = [case.find(kind) for kind in ("failure", "error", "skipped")]
            assert any(found is not None for found in told), report.read_text(encoding="utf-8")
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8").partition("</style>")[2]
        assert GOOD.search(text) is None, (page, GOOD.search(text))


def said_by(words: list[str], folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """Carry out a command that must not succeed, and return what it said after requiring that nothing is good."""
    assert main(words) != 0
    out, err = capfd.readouterr()
    condemned(folder, out + err)
    return out + err


@LIES
def test_runs_regressions_and_what_shows_their_results(
    options: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str], simulator: str
) -> None:
    said = said_by(["run", "--only", ONE, *options], tmp_path, capfd)
    assert re.search(r"^0 passed, 1 failed \(1 [a-z ]+\), 0 refused$", said, re.MULTILINE), said
    alone = ("--jobs", "1", *options)
    # Icarus needs no build of minutes for waves.
    said = said_by(["regress", "plan", "--only", ONE, "--sim", simulator, *alone], tmp_path, capfd)
    assert "0 passed, 1 failed" in said
    said = said_by(["regress", "random", "--seeds", "1", "--only", "SDP", "--no-waves", *alone], tmp_path, capfd)
    assert "0 passed, 1 failed" in said
    (left,) = (tmp_path / "sim_build" / "regress").glob(f"*/{ONE}.*")

    main(["replay", str(left), *options])  # says that it fails as it did
    main(["plan", *options])
    main(["coverage", "--html", "coverage.html"])
    out, err = capfd.readouterr()
    condemned(tmp_path, out + err)
    assert "46 features, 0 without holes, 46 with; coverage 0.0 % of " in out


@LIES
def test_traces_networks_and_drivers(options: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(SCENARIO, tmp_path / "a_trace")
    said_by(["trace", "a_trace", *options], tmp_path, capfd)

    (tmp_path / "copies.nvdla").write_bytes(copying(2).file())
    np.save(tmp_path / "image.npy", np.arange(48, dtype=np.int8).reshape(SHAPE))
    said_by(
        ["network", "copies.nvdla", "--image", "image.npy", "--html", "n.html", "--junit", "n.xml", *options],
        tmp_path,
        capfd,
    )

    shutil.copytree(ROOT / "examples" / "driver", tmp_path / "driver")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    subprocess.run(["make", "-C", "driver"], env={**os.environ, "PATH": path}, check=True, capture_output=True)
    said_by(["drive", "driver/driver.so", *options], tmp_path, capfd)


@LIES
def test_tests_in_python(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_relu.py").write_text(COCOTB_TEST, encoding="utf-8")
    given = ["--nvdla-plusarg" if word == "--plusarg" else word for word in options]
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        *given,
        "--nvdla-sim",
        "verilator",
        "test_relu.py",
    ]
    ran = subprocess.run([*words, "--junitxml", "junit.xml"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stdout
    assert "1 failed" in ran.stdout
    condemned(tmp_path, ran.stdout + ran.stderr)
