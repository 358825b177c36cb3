"""Which files make a trace, and which traces a command line means."""

from __future__ import annotations

import os
import re
from errno import EACCES
from pathlib import Path

import pytest

from nvdla_tb.stimulus.trace import TraceError, find_traces, read
from nvdla_tb.stimulus.trace.files import name_of
from tests.unit.nvdla.samples import SMALL
from tests.unit.stimulus.trace.conftest import refusal

COMMAND = "reg_read(GLB.S_INTR_STATUS);"


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Two folders of traces, one with other files around, and a folder without any."""
    for name in ("b/two", "b/ten", "a/one"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / f"{Path(name).name}.cfg").write_text(COMMAND)
    (tmp_path / "b" / "README").write_text("no trace")
    (tmp_path / "c" / "deep").mkdir(parents=True)
    return tmp_path


def test_a_folder_a_cfg_and_a_folder_of_folders_are_expanded_in_sorted_order(traces: Path) -> None:
    assert find_traces([traces]) == (traces / "a/one", traces / "b/ten", traces / "b/two")
    assert find_traces([traces / "b/two", traces / "a"]) == (traces / "b/two", traces / "a/one")
    assert find_traces([traces / "b/two/two.cfg"]) == (traces / "b/two/two.cfg",)


def test_a_trace_that_is_named_twice_is_found_once(traces: Path) -> None:
    (traces / "link").symlink_to(traces / "b/two")
    named = [traces / "b/two/two.cfg", traces / "b", traces / "link", traces / "b/two"]
    assert find_traces(named) == (traces / "b/two/two.cfg", traces / "b/ten")


def test_links_to_folders_are_not_followed_in_search_of_traces(traces: Path) -> None:
    (traces / "a" / "loop").symlink_to(traces)
    assert find_traces([traces / "a"]) == (traces / "a/one",)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("c", "no trace here: no folder with a .cfg file or input.txn"),
        ("d", "no such file or folder"),
        ("b/README", "a trace must be a folder, a .cfg file or input.txn"),
    ],
)
def test_a_path_without_trace_is_refused(path: str, message: str, traces: Path) -> None:
    with pytest.raises(TraceError, match=f"^{re.escape(f'{traces / path}: {message}')}$"):
        find_traces([traces / "a", traces / path])


def test_a_trace_is_called_like_its_folder_with_all_dots(traces: Path) -> None:
    (traces / "b/two").rename(traces / "b/two_s0.5_h1")
    assert name_of(traces / "b/two_s0.5_h1") == "two_s0.5_h1"
    assert name_of(traces / "b/two_s0.5_h1/two.cfg") == "two"


def test_a_folder_with_two_cfg_files_is_found_but_not_read(traces: Path) -> None:
    folder = traces / "a/one"
    (folder / "1.cfg").write_text(COMMAND)
    assert find_traces([traces / "a"]) == (folder,)
    assert (
        refusal(folder) == f"{folder}: a trace folder must hold exactly one .cfg file or input.txn, not 1.cfg, one.cfg"
    )


def test_one_of_two_cfg_files_can_be_read_by_its_name(traces: Path) -> None:
    (traces / "a/one/1.cfg").write_text(COMMAND)
    assert read(traces / "a/one/1.cfg", SMALL).name == "1"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("c", "a trace folder must hold exactly one .cfg file or input.txn, not none"),
        ("nowhere", "a trace must be a folder, a .cfg file or input.txn"),
        ("b/README", "a trace must be a folder, a .cfg file or input.txn"),
    ],
)
def test_what_is_no_trace_is_not_read(path: str, message: str, traces: Path) -> None:
    assert refusal(traces / path) == f"{traces / path}: {message}"


def test_a_cfg_behind_a_link_out_of_the_folder_is_refused(traces: Path) -> None:
    cfg = traces / "c/deep/x.cfg"
    cfg.symlink_to(traces / "a/one/one.cfg")
    assert refusal(traces / "c/deep") == f"{cfg}: the file must lie in the trace's folder, not elsewhere"


def test_a_folder_named_through_a_link_or_a_dot_is_a_trace_of_its_real_name(
    traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (traces / "link").symlink_to(traces / "b/two")
    monkeypatch.chdir(traces / "b/two")
    assert read(traces / "link", SMALL).name == "two"
    assert read(Path(), SMALL).name == "two"


@pytest.mark.parametrize("name", ["one.cfg", "in.dat"])
def test_a_file_that_cannot_be_read_is_an_error_of_the_trace(
    name: str, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = traces / "a/one"
    (folder / "one.cfg").write_text('mem_load(1, 0, "in.dat");')
    (folder / "in.dat").write_text("{\n}\n")
    original = os.open

    def refused(path: str, flags: int) -> int:
        # Permissions would not stop a test that runs as root.
        if Path(path).name == name:
            raise PermissionError(EACCES, "Permission denied")
        return original(path, flags)

    monkeypatch.setattr(os, "open", refused)
    assert refusal(folder) == f"{folder / name}: cannot be read: Permission denied"
