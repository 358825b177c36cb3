"""Pages lead to files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tb.places import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_links_to_pages() -> None:
    assert LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))


PATH = re.compile(r"`((?:tb|models|hdl_stubs|tests|networks|docs)/[\w./*-]*)`")
# Files of examples, which readers are told to make.
EXAMPLES = ("tests/test_relu.py",)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = PATH.findall(page.read_text(encoding="utf-8"))
    missing = [name for name in named if not any(ROOT.glob(name.rstrip("/")))]
    assert [name for name in missing if "xyz" not in name and name not in EXAMPLES] == []


def test_pages_name_files() -> None:
    assert len(PATH.findall((ROOT / "docs" / "start.md").read_text(encoding="utf-8"))) > 10
