"""The rules of formats and the layout tests name each other completely."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS / "RULES.md"


def test_the_rules_name_every_layout_test_and_no_other() -> None:
    named = set(re.findall(r"`(\w+::\w+)`", PAGE.read_text())) - {"file::name", "feature::x"}
    existing = {
        f"{path.stem.removeprefix('test_')}::{name}"
        for path in TESTS.glob("test_*.py")
        if path != Path(__file__)
        for name in re.findall(r"^def test_(\w+)", path.read_text(), re.MULTILINE)
    }
    assert named == existing
