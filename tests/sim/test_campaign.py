"""A kill at a random moment with and without a cluster of its own; ``python -m tests.campaign`` plays many."""

from __future__ import annotations

from pathlib import Path

from tests.campaign import Campaign


def test_kills_at_random_moments_change_no_result_and_leave_nothing(tmp_path: Path) -> None:
    campaign = Campaign(7, tmp_path, ("--only", "sdp_x1_*"))
    for number, shared in enumerate((False, True)):
        while campaign.figures.kills.total() == number:
            campaign.play(1, shared=shared)
    assert campaign.figures.problems == []
    left = sorted(path.name for path in (tmp_path / "undisturbed" / "results" / "0001").rglob("*"))
    whole = [".lock", ".nvdla-testbench", ".nvdla-testbench", "about.txt", "index.html", "junit.xml", "records"]
    assert left == whole, "passing tasks leave nothing else behind"
