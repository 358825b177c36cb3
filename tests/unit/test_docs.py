"""Pages lead to files that are there."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.repository import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
SECTION = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def sections(page: Path) -> set[str]:
    """Return the names by which links lead to the headings of a page."""
    headings = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in HEADING.findall(page.read_text("utf-8")))
    return {re.sub(r"\s", "-", heading) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_section_finds_its_heading(page: Path) -> None:
    links = [found for found in SECTION.findall(page.read_text(encoding="utf-8")) if "://" not in found[0]]
    assert [link for link in links if link[1] not in sections((page.parent / link[0]) if link[0] else page)] == []


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
    assert len(PATH.findall((ROOT / "docs" / "where-to-look.md").read_text(encoding="utf-8"))) > 10


def python_of(page: Path) -> list[str]:
    """Return the Python that a page shows."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["first-day.md", "tests-in-python.md", "pytest.md"])
def test_every_import_of_a_page_finds_its_name(name: str) -> None:
    trees = [ast.parse(block) for block in python_of(ROOT / "docs" / name)]
    imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert imports
    for node in imports:
        module = import_module(str(node.module))
        assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


def test_the_layouts_of_the_library_page_work() -> None:
    names: dict[str, Any] = {}
    exec(python_of(ROOT / "docs" / "tests-in-python.md")[-1], names)
    assert names["offset"] == names["layout"].offset(c=17, h=2, w=3) == 0x1A9
    assert len(names["data"]) == names["layout"].nbytes


def test_every_module_of_the_library_page_is_there() -> None:
    text = (ROOT / "docs" / "tests-in-python.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(nvdla_\w+[\w.]*)`", text, re.MULTILINE)
    assert len(named) > 5
    for name in named:
        module, _, last = name.rpartition(".")
        assert import_module(module if last[0].isupper() else name)
        assert not last[0].isupper() or hasattr(import_module(module), last)


HELD_BY = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_each_way_to_a_green_is_held_by_a_test_that_is_there() -> None:
    tables = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8").split("| way |")[1:]
    rows = [row for table in tables for row in table.splitlines()[2:] if row.startswith("| ")]
    assert len(rows) >= 40
    assert [row for row in rows if not HELD_BY.search(row)] == []
    held = {found for row in rows for found in HELD_BY.findall(row)}
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file, _ in held if (ROOT / file).is_file()}
    missing = [
        (file, name) for file, name in held if not re.search(rf"^(async )?def {name}\(", texts.get(file, ""), re.M)
    ]
    assert missing == []
