"""Errors of files that are written name the file."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nvdla_tb.report.page import Head, write_junit
from nvdla_tb.run.regress.code_coverage import write_counts
from nvdla_tb.run.space import in_words, write_whole
from nvdla_tb.writing import writing

FULL = Path("/dev/full")
"""A device whose every write says that the disk is full."""


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_whole(path, "x"),
        lambda path: write_counts({"x": 1}, path),
        lambda path: path.write_text("x"),
    ],
)
def test_a_full_disk_is_told_with_the_file_that_was_written(write: Callable[[Path], object]) -> None:
    with pytest.raises(OSError, match=r"No space left") as caught, writing(FULL):
        write(FULL)
    assert (caught.value.errno, in_words(caught.value)) == (errno.ENOSPC, "/dev/full: No space left on device")


def test_a_report_on_a_full_disk_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nvdla_tb.run.space.os.fsync", full)
    path = tmp_path / "junit.xml"
    with pytest.raises(OSError, match=re.escape(f"No space left on device: '{path}'")):
        write_junit(Head("x", "run"), [], path)


def test_an_error_of_the_machine_is_one_printable_line() -> None:
    assert in_words(OSError(errno.EIO, "Input/output error", "a\x1b[2J\nb")) == r"a\x1b[2J\nb: Input/output error"
    assert in_words(OSError(errno.ENOSPC, "No space left on device")) == "No space left on device"
