"""Pages are made of templates: what is text stays text, wherever it stands."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from nvdla_tb.markup import Cell, Section, printable, render
from tests.repository import ROOT

HOSTILE = "<script>alert('x')</script> & \x07"
SHOWN = "<script>alert('x')</script> & \N{REPLACEMENT CHARACTER}"


class Parsed(HTMLParser):
    """Tags and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        del attributes
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page(*sections: Section) -> Parsed:
    return Parsed(render("sections.html", title="title", heading="heading", sections=sections))


@pytest.mark.parametrize(
    "section",
    [
        Section(HOSTILE, ("a",)),
        Section("title", (HOSTILE,)),
        Section("title", ("a",), [(HOSTILE,)]),
        Section("title", ("a",), [(Cell(HOSTILE),)]),
        Section("title", ("a",), [(Cell("text", about=HOSTILE),)]),
        Section("title", ("a",), [(Cell(HOSTILE, "bad"),)]),
        Section("title", lines=["first", HOSTILE]),
    ],
)
def test_text_stays_text_in_every_part_of_a_section(section: Section) -> None:
    parsed = page(section)
    assert parsed.tags.count("script") == 1, "that of the page"
    assert SHOWN in parsed.texts


def test_a_table_has_its_cells_in_order_and_marks_numbers() -> None:
    text = render(
        "sections.html",
        title="t",
        heading="h",
        sections=[Section("s", ("a", "b:n"), [("1", Cell("2", "bad")), ("3", Cell("4", bar=[("good", 12.345)]))])],
    )
    assert '<tr><th>a</th><th class="n">b</th></tr>' in text
    row = '<tr><td data-column="a">1</td><td class="n" data-column="b"><span class="bad">2</span></td></tr>'
    assert row in text
    assert '<div class="bar"><span class="good" style="width:12.35%"></span></div>4</td>' in text


def test_folded_lines_are_counted() -> None:
    parsed = page(Section("Holes", lines=["one", "two"]))
    assert "details" in parsed.tags
    assert [text for text in parsed.texts if text.strip()][-3:] == ["Holes (2)", "one", "two"]


def test_printable_text_is_left_alone() -> None:
    assert printable("a\tb\n\N{SNOWMAN}") == "a\tb\n\N{SNOWMAN}"


def test_no_module_writes_tags_by_hand() -> None:
    tags = ("<td", "<tr", "<div", "<span", "<h1", "<h2", "<pre", "<svg", "<html", "html.escape", "from html import")
    modules = sorted((ROOT / "tb").rglob("*.py"))
    assert [
        str(path.relative_to(ROOT)) for path in modules if any(tag in path.read_text("utf-8") for tag in tags)
    ] == []
