"""Options of the public bench beside a trace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nvdla_tb.stimulus.trace import TraceError
from nvdla_tb.stimulus.trace.files import TraceFolder
from nvdla_tb.stimulus.trace.plusargs import Plusargs, read_plusargs
from tests.unit.stimulus.trace.txn_files import make


def options(folder: Path, text: str | None) -> Plusargs:
    return read_plusargs(TraceFolder.open(make(folder, "wait", plusargs=text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, Plusargs(251_000, False)),
        ("\n", Plusargs(251_000, False)),
        ("+read_reg_poll_retries=10 +continue_on_fail\n", Plusargs(11_000, True)),
        ("+read_reg_poll_interval_clocks=10\n+read_reg_poll_retries=0 # one read", Plusargs(10, False)),
        ("+read_reg_poll_retries=100000", Plusargs(2_000_000, False)),
        ("+read_reg_poll_interval_clocks=0", Plusargs(1, False)),
        ("+continue_on_fail=0", Plusargs(251_000, False)),
        ("+continue_on_fail=1", Plusargs(251_000, True)),
        ("+mem_read_latency=180 +nowaves", Plusargs(251_000, False)),
    ],
)
def test_options_say_how_long_a_poll_lasts_and_whether_a_failed_one_ends_the_trace(
    text: str | None, expected: Plusargs, tmp_path: Path
) -> None:
    assert options(tmp_path / "t", text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nretries=1", ":2: an option must be like +NAME or +NAME=VALUE, not retries=1"),
        ("+read_reg_poll_retries", ":1: +read_reg_poll_retries must have a number, not +read_reg_poll_retries"),
        ("+read_reg_poll_retries=-1", ":1: +read_reg_poll_retries must have a number, not +read_reg_poll_retries=-1"),
    ],
)
def test_what_is_no_option_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t" / "plusargs.txt"
    with pytest.raises(TraceError, match=rf"^{re.escape(f'{path}{message}')}$"):
        options(tmp_path / "t", text)


def test_a_file_of_options_elsewhere_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "t", "wait")
    (tmp_path / "elsewhere").write_text("+continue_on_fail")
    path = folder / "plusargs.txt"
    path.symlink_to(tmp_path / "elsewhere")
    message = f"{path}: the file must lie in the trace's folder, not elsewhere"
    with pytest.raises(TraceError, match=rf"^{re.escape(message)}$"):
        read_plusargs(TraceFolder.open(folder))
