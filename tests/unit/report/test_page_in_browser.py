"""The page of a run in a real browser: everything shows, and nothing that a test is called runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from models.config import HwConfig
from tb.coverage.model import load_model
from tb.judge.finding import Check
from tb.judge.verdict import Ending, Verdict
from tb.places import PLANS
from tb.report import page
from tb.report.features_table import feature_status, section
from tb.report.page_coverage import coverage_sections
from tb.run.regress.features import load_feature_plan
from tb.run.regress.store import Run
from tests.unit.report.test_page import ended
from tests.unit.run.regress.tasks import VERDICTS

PLAN = PLANS
BROWSERS = [shutil.which(name) for name in ("chromium", "google-chrome", "chromium-browser")]
BROWSER = next(filter(None, BROWSERS), None)
HOSTILE = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">'\"&"


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed (apt-get install chromium)")
def test_a_browser_shows_the_page_and_runs_nothing_of_it(tmp_path: Path) -> None:
    assert BROWSER is not None
    config = HwConfig.load("nv_small")
    plan, model = load_feature_plan(PLAN / "features.toml", config), load_model(PLAN / "coverage", config)
    run = Run(1, f"title {HOSTILE}", 0.0, tmp_path)
    entries = [
        ended(1, VERDICTS[Ending.PASSED]),
        ended(2, Verdict.of(Check.TEST, f"wrong {HOSTILE}"), folder=tmp_path / 'a"b<c'),
        replace(ended(3, Verdict.of(Check.CRASH, HOSTILE)), rerun=HOSTILE),
        ended(4, Verdict(refused=HOSTILE)),
    ]
    sections = [section(feature_status(plan, plan.features, {}, {})), *coverage_sections(model, {"SDP.group=0": 1})]
    trend = [(run, {Ending.PASSED: 1, Ending.CHECK: 1, Ending.CRASH: 1, Ending.REFUSED: 1}, 0)]
    page.write_html(run, entries, trend, tmp_path / "index.html", sections)
    dom = subprocess.run(
        [
            *(BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"),
            (tmp_path / "index.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    assert re.findall(r"<title>(.*?)</title>", dom)[0].startswith("Run 1: title &lt;script&gt;")
    assert "<script" not in dom
    assert "<img" not in dom
    for heading in ("Failures by signature", "Trend", "Test plan", "Functional coverage", "Holes", "Slowest", "Tasks"):
        assert f"<h2>{heading}</h2>" in dom
    assert dom.count("<tr>") > len(plan.features) + len(model.items) / 2
