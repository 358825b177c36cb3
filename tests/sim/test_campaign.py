"""A few kills at random moments; ``python -m tests.campaign`` plays many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign import Campaign

KILLS = 2


@pytest.mark.parametrize("shared", [False, True])
def test_kills_at_random_moments_change_no_result_and_leave_nothing(shared: bool, tmp_path: Path) -> None:
    campaign = Campaign(7, tmp_path, ("--only", "sdp_x1_*"))
    while campaign.figures.kills.total() < KILLS:
        campaign.play(KILLS - campaign.figures.kills.total(), shared=shared)
    assert campaign.figures.problems == []
    assert campaign.figures.kills.total() == KILLS
