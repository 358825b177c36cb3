"""The document's table of rules and tests: nothing missing, nothing invented."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE / "RULES.md"


def defined() -> set[str]:
    return {
        name
        for path in HERE.glob("test_*.py")
        if path != Path(__file__).resolve()
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }


def test_every_test_of_this_folder_is_named_in_the_document() -> None:
    assert defined() - set(re.findall(r"`(test_\w+)`", DOCUMENT.read_text())) == set()


def test_every_test_named_in_the_document_exists() -> None:
    assert set(re.findall(r"`(test_\w+)`", DOCUMENT.read_text())) - defined() == set()
