"""The test in Python that the README shows runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.run.compile.build import build
from tb.run.compile.spec import BuildSpec
from tb.run.folders import RESULTS
from tb.run.simulate import simulate
from tb.stimulus.exchange import REQUEST, Request
from tests.sim.conftest import ROOT


def test_the_test_in_the_readme_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "readme_example.py").write_text(example, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    built = build(BuildSpec(HwConfig.load("nv_small")), ROOT / RESULTS)
    result = simulate(
        built,
        test_module="readme_example",
        testcase="relu_with_a_half_filled_last_surface",
        env={REQUEST: Request("nv_small").encode()},
        work_dir=tmp_path / "run",
        timeout_seconds=120,
    )
    assert result.passed, result.message
