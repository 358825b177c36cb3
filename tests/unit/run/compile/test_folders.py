"""Folders: no name from outside becomes a path, and only what the testbench made is ever emptied."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvdla_tb.run import folders
from nvdla_tb.run.folders import MARKER, FolderError, alone, check_new, emptied, folder_name, made, place, remove
from tests.repository import ROOT

HOSTILE = (
    "/some/where",
    "../../../x",
    "..",
    ".",
    "",
    "-rf",
    "~",
    "a\0b",
    "a\nb",
    "CON",
    "nul.1",
    "a" * 300,
    "Übung",
    "a b",
    "\udcff",
    "a.",
    "A",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_becomes_one_plain_folder(tmp_path: Path, name: str) -> None:
    folder = emptied(tmp_path, folder_name(name))
    assert folder.parent == tmp_path
    assert re.fullmatch(r"[A-Za-z0-9_.-]{1,120}", folder.name)
    assert folder.name[0] not in ".-"


def test_a_plain_name_stays_and_others_are_told_apart() -> None:
    assert folder_name("sdp_x1_bias.1.nv_small.verilator") == "sdp_x1_bias.1.nv_small.verilator"
    names = [*HOSTILE, "a_b", "a", "_a_b", *(folder_name(name) for name in HOSTILE)]
    assert len({folder_name(name).casefold() for name in names}) == len(set(names))


@given(st.text(), st.text())
def test_distinct_names_never_share_a_folder_even_without_capitals(one: str, other: str) -> None:
    assert (folder_name(one).casefold() == folder_name(other).casefold()) == (one == other)


@pytest.mark.parametrize("part", ["/some/where", "../x", "..", ".", "", "a/b", "a\0", "a" * 300])
def test_a_part_that_is_no_plain_name_is_refused(tmp_path: Path, part: str) -> None:
    message = f"a folder below {tmp_path} must be letters, digits, _, - and ., not {part!r}"
    with pytest.raises(FolderError, match=f"^{re.escape(message)}$"):
        place(tmp_path, part)


def test_what_an_earlier_run_left_is_removed_and_the_marker_stays(tmp_path: Path) -> None:
    folder = emptied(tmp_path / "new", "runs", "one.1")
    (folder / "scenario").mkdir()
    (folder / "scenario" / "a.dat").touch()
    (folder / "log").touch()
    assert emptied(tmp_path / "new", "runs", "one.1") == folder
    assert [entry.name for entry in folder.iterdir()] == [MARKER]
    assert (folder.parent / MARKER).is_file()
    remove(tmp_path / "new", "runs", "one.1")
    assert not folder.exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "one.1" / "precious"
    own.parent.mkdir()
    own.touch()
    message = f"{own.parent} lacks {MARKER}, so the testbench did not make it and does not empty it: remove it"
    for act in (emptied, remove):
        with pytest.raises(FolderError, match=f"^{re.escape(message)}$"):
            act(tmp_path, "one.1")
    with pytest.raises(FolderError, match=f"^{re.escape(str(own.parent))} must be empty$"):
        check_new(own.parent)
    assert made(tmp_path, "one.1") == own.parent
    assert [entry.name for entry in own.parent.iterdir()] == ["precious"], "made() marks nothing that is not empty"


def test_symbolic_links_are_refused_and_what_they_lead_to_stays(tmp_path: Path) -> None:
    """Even to a folder that the testbench made elsewhere; only the results folder itself may be a link."""
    precious = emptied(tmp_path, "elsewhere") / "precious"
    precious.touch()
    root = emptied(tmp_path, "results")
    (root / "link").symlink_to(precious.parent)
    for parts in (("link",), ("link", "one.1")):
        for act in (place, made, emptied, remove):
            with pytest.raises(FolderError, match=r"link must be a folder, not a symbolic link or a file: remove it$"):
                act(root, *parts)
    folder = emptied(root, "one.1")
    (folder / "link").symlink_to(precious.parent)
    emptied(root, "one.1")
    assert not (folder / "link").is_symlink()
    assert precious.exists()
    (tmp_path / "results_too").symlink_to(root)
    assert emptied(tmp_path / "results_too", "one.1").is_dir()


def test_a_marker_that_is_a_link_counts_for_nothing(tmp_path: Path) -> None:
    folder = emptied(tmp_path, "one.1")
    (folder / "precious").touch()
    (folder / MARKER).rename(tmp_path / "marker")
    (folder / MARKER).symlink_to(tmp_path / "marker")
    with pytest.raises(FolderError, match="did not make it"):
        emptied(tmp_path, "one.1")


def test_the_results_folder_is_named_by_the_environment() -> None:
    assert folders.results({}) == Path("sim_build") == folders.results({"NVDLA_RESULTS": ""})
    assert folders.results({"NVDLA_RESULTS": "/scratch/mine"}) == Path("/scratch/mine")


def test_folders_are_removed_in_one_place_alone() -> None:
    removing = re.compile(r"\brmtree\b|\bos\.removedirs\b|\brmdir\b|\bshutil\.move\b|rm -rf")
    sources = [path for room in ("tb", "models") for path in (ROOT / room).rglob("*.py")]
    found = [path for path in sources if removing.search(path.read_text(encoding="utf-8"))]
    assert [str(path.relative_to(ROOT)) for path in found] == ["tb/nvdla_tb/run/folders.py"]


def test_a_lock_is_neither_followed_nor_emptied(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("kept", encoding="utf-8")
    (tmp_path / ".lock").symlink_to("theirs")
    message = f"{tmp_path / '.lock'} must be a file, not a symbolic link or a folder: remove it"
    with pytest.raises(FolderError, match=f"^{re.escape(message)}$"), alone(tmp_path / ".lock", None):
        pass
    assert (tmp_path / "theirs").read_text(encoding="utf-8") == "kept"


def test_what_lies_in_a_lock_stays(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("kept", encoding="utf-8")
    with alone(tmp_path / ".lock", None), pytest.raises(BlockingIOError), alone(tmp_path / ".lock", None):
        pass
    assert (tmp_path / ".lock").read_text(encoding="utf-8") == "kept"


def test_a_fifo_is_no_lock(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".lock")
    message = f"{tmp_path / '.lock'} must be a file, not a FIFO or a device: remove it"
    with pytest.raises(FolderError, match=f"^{re.escape(message)}$"), alone(tmp_path / ".lock", None):
        pass
