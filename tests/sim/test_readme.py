"""The test in Python that the README shows runs as it stands there, and a failure reads as its page shows it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec
from tests.repository import ROOT
from tests.sim.conftest import needs_icarus, simulated


def test_the_test_in_the_readme_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "readme_example.py").write_text(example, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    built = build(BuildSpec(HwConfig.load("nv_small")))
    simulated(built, "readme_example", "a_padded_convolution", tmp_path / "run")


@needs_icarus
def test_a_failure_reads_as_its_page_shows_it(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reading-a-failure.md").read_text(encoding="utf-8")
    command, said, *_ = re.findall(r"^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    words = [sys.executable, "-m", "nvdla_tb", *shlex.split(command)[1:]]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert ran.returncode == 1
    missing = set(said.splitlines()) - set(ran.stdout.splitlines())
    assert {line.strip() for line in missing} == {"..."}
    assert (
        tmp_path / "sim_build" / "runs" / "nv_small-icarus" / "sdp_x1_bias_per_channel.1" / "failure.html"
    ).is_file()
