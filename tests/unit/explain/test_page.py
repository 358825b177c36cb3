"""The page about a failure is complete in itself, says what the terminal says, and its pictures show the errors."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from nvdla_tb.explain import Explanation, explain, write_page
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.page import data_url, page, pictures, timeline
from nvdla_tb.explain.text import bad_beats
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.stimulus.explained import Explained, Pointed
from nvdla_tb.stimulus.result import Dut, Result
from tests.unit.explain import cases

MEMORY = cases.memory_for(3)
ADDED = 5


def one_surface(patch: Patch) -> Patch:
    """Make every byte of the second surface of ``copy_layer`` larger, but the last atom of it lost."""
    data, mask = patch.data.copy(), patch.mask.copy()
    part = data[240:480].view(np.int8)
    part[:] = np.minimum(part.astype(np.int64) + ADDED, 127)
    mask[472:480] = False
    return replace(patch, data=data, mask=mask)


@pytest.fixture(scope="module")
def explanation() -> Explanation:
    return explain(cases.evidence_of(cases.copy_layer(), MEMORY, one_surface))


def opened(url: str) -> NDArray[np.uint8]:
    """Return the pixels of a picture inside a page."""
    kind, data = url.split(",")
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data)), formats=("PNG",)))


def test_a_png_holds_the_pixels_it_was_made_of() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (7, 13, 4), dtype=np.uint8)
    np.testing.assert_array_equal(opened(data_url(pixels)), pixels, strict=True)


def test_only_surfaces_with_errors_are_shown_and_each_pixel_tells_which_way(explanation: Explanation) -> None:
    evidence = explanation.evidence
    (picture,) = pictures(evidence)
    assert (picture.number, picture.step, picture.channels) == (1, 1, 8)
    _, height, width = evidence.cube.shape
    assert picture.pixels["difference"].shape == (height, 8 * (width + 1) - 1, 4)
    wrong = 0
    for lane, h, w in np.ndindex(8, height, width):
        colour = tuple(picture.pixels["difference"][h, lane * (width + 1) + w])
        if (h, w) == (height - 1, width - 1):
            assert colour == (245, 190, 40, 255)
            assert tuple(picture.pixels["got"][h, lane * (width + 1) + w]) == colour
        elif evidence.cube[8 + lane, h, w] == 127:
            assert colour == (128, 128, 128, 48)
            continue
        else:
            assert colour == (196, 52, 40, 255)
        wrong += 1
    assert picture.wrong == wrong


def test_a_large_surface_is_shrunk_without_losing_a_single_error() -> None:
    layer = cases.copy_layer((8, 3, 1000))

    def one(patch: Patch) -> Patch:
        data = patch.data.copy()
        data[8 * 1777 + 2] ^= 1
        return replace(patch, data=data)

    memory = cases.memory_for(4)
    (picture,) = pictures(cases.evidence_of(layer, memory, one))
    assert picture.step > 1
    assert picture.pixels["difference"].shape[1] <= 720 + 8
    coloured = picture.pixels["difference"][..., 3] == 255
    columns = -(-1000 // picture.step)
    assert np.argwhere(coloured).tolist() == [[1 // picture.step, 2 * (columns + 1) + 777 // picture.step]]


def test_the_timeline_has_a_mark_for_each_write(explanation: Explanation) -> None:
    drawn = timeline(explanation.evidence)
    marks = {name: path.count("M") for name, path in re.findall(r'<path class="(\w+)" d="([^"]*)"', drawn)}
    beats = explanation.evidence.beats
    assert beats is not None
    wrong = int(bad_beats(explanation.evidence).sum())
    assert marks == {"axis": 1, "right": len(beats) - wrong, "wrong": wrong}
    assert f"cycle {beats.cycle.min()}" in drawn
    assert f"cycle {beats.cycle.max()}" in drawn


class Parsed(HTMLParser):
    """Everything that a page says, and everything that it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "img", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "path":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_says_what_the_terminal_says_and_loads_nothing(explanation: Explanation) -> None:
    commands = [("Run it again", "nvdla-tb run --only 'a<b' --seed 1 && echo \"done\"")]
    parsed = Parsed(page("<b>odd & name</b>.1", [explanation], complaints=["expected <1>"], commands=commands))
    assert parsed.open == []
    assert parsed.loaded
    assert all(url.startswith("data:image/png;base64,") for url in parsed.loaded)
    said = "\n".join(parsed.words)
    assert "<b>odd & name</b>.1 failed" in said
    assert "expected <1>" in said
    assert commands[0][1] in said
    assert explanation.headline in said
    for line in (*explanation.where, *explanation.when):
        assert line in said
    for fit in explanation.causes[:8]:
        assert fit.text in said


def test_the_first_wrong_elements_are_listed_with_both_values_and_their_write(explanation: Explanation) -> None:
    evidence = explanation.evidence
    said = Parsed(page("any.1", [explanation])).words
    address = evidence.expected.address + 240
    at = said.index(f"{address:#x}")
    value = int(evidence.cube[8, 0, 0])
    beats = evidence.beats
    assert beats is not None
    cycle = int(beats.cycle[beats.address == address][0])
    assert said[at - 3 : at + 4] == [
        "8",
        "0",
        "0",
        f"{address:#x}",
        str(value),
        str(min(127, value + ADDED)),
        f"cycle {cycle}, id 1",
    ]


def test_a_page_without_a_cause_says_so() -> None:
    rng = np.random.default_rng(2)

    def noise(patch: Patch) -> Patch:
        return replace(patch, data=rng.integers(0, 256, len(patch.data), dtype=np.uint8))

    explanation = explain(cases.evidence_of(cases.copy_layer(), MEMORY, noise))
    said = "\n".join(Parsed(page("any.1", [explanation])).words)
    assert "no known cause fits" in said
    assert all(line in said for line in explanation.reasons())


def result_of(rerun: str, with_waves: str | None) -> Result:
    """Return a failure that is repeated by commands."""
    verdict = Verdict.of(Check.VALUE, "wrong")
    return Result("any", 1, Dut("nv_small", "verilator"), rerun, verdict, rerun_waves=with_waves)


def test_the_page_says_which_unit_and_what_was_handed_over(explanation: Explanation) -> None:
    told = explanation.told(["SDP to memory: 8, all right", "first bad stage: none"])
    why = Explained(
        [told], [Pointed("SDP, its writes: the probable cause lies in its work")], ["reads: 9 atoms, all right"]
    )
    said = Parsed(page("any.1", [explanation], why=why)).words
    for line in (f"unit: {why.units[0].text}", *why.interface, *told.handovers):
        assert line in said, "each in an element of its own"


def test_the_page_of_a_run_has_the_commands(explanation: Explanation, tmp_path: Path) -> None:
    rerun = "nvdla-tb run --seed 1"
    write_page(tmp_path / "failure.html", result_of(rerun, f"{rerun} --waves"), [explanation])
    said = Parsed((tmp_path / "failure.html").read_text(encoding="utf-8")).words
    for command in (
        "nvdla-tb run --seed 1",
        "nvdla-tb run --seed 1 --waves",
        f"nvdla-tb explain {tmp_path}",
    ):
        assert command in said


def test_the_page_names_no_command_that_there_is_not(explanation: Explanation, tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    folder.mkdir()
    write_page(folder / "failure.html", result_of("nvdla-tb score --number 3", None), [explanation])
    said = Parsed((folder / "failure.html").read_text(encoding="utf-8")).words
    assert "nvdla-tb score --number 3" in said
    assert f"nvdla-tb explain '{folder}'" in said
    assert not any("--waves" in word for word in said)
