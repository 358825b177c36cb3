"""What pytest shows while a model is built, which takes minutes for a large design."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import ROOT

ITEM = """
import time
from nvdla_tb.plugin.collect import Told

def test_one(pytestconfig, monkeypatch):
    print("of the test itself")
    told = Told(pytestconfig)
    told.say("building top")
    later = time.monotonic() + 6
    monkeypatch.setattr(time, "monotonic", lambda: later)
    told.progress("compiling: 3 of 7 files, 6 s")
"""


@pytest.mark.slow
def test_builds_are_told_past_the_capture(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(ITEM, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_it.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "tb"), str(ROOT / "models")))}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout
    said = ran.stdout.splitlines()
    assert [line for line in said if "top" in line or "compiling" in line] == [
        "building top",
        "compiling: 3 of 7 files, 6 s",
    ]
    assert "of the test itself" not in ran.stdout + ran.stderr
