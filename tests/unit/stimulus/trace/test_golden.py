"""The public traces, against a scan that shares nothing with the reader."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nvdla_tb.nvdla.program.ops import CheckCrc, InterruptNotify, MemInit, MemLoad, Op, Poll, RegWrite
from nvdla_tb.stimulus.trace import find_traces, read, write
from tests.references import TRACES, needs_traces
from tests.unit.nvdla.samples import SMALL

pytestmark = needs_traces

COMMANDS: dict[type[Op], str] = {
    RegWrite: "reg_write",
    Poll: "poll_reg_equal",
    MemInit: "mem_init",
    MemLoad: "mem_load",
    InterruptNotify: "intr_notify",
    CheckCrc: "check_crc",
}

FOLDERS = sorted(path.parent for path in TRACES.rglob("*.cfg")) if TRACES.is_dir() else []


def _scanned(folder: Path) -> tuple[Counter[str], list[tuple[str, int]]]:
    """Count commands by the words before their parentheses; list register writes as (last name part, value)."""
    counts: Counter[str] = Counter()
    writes = []
    for line in (folder / f"{folder.name}.cfg").read_text(encoding="utf-8").splitlines():
        name, parenthesis, rest = line.partition("(")
        if not parenthesis or line.lstrip().startswith("//"):
            continue
        counts[name.strip()] += 1
        if name.strip() == "reg_write":
            register, value = rest[: rest.index(")")].split(",")
            value = value.strip()
            writes.append((register.strip()[6:-2], int(value, 16 if value.startswith("0x") else 10)))
    return counts, writes


def _scanned_bytes(path: Path) -> dict[int, int]:
    """Collect every byte of a data file, cutting each line at its punctuation."""
    found: dict[int, int] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        if "payload" not in line:
            continue
        offset = int(line.split("offset:")[1].split(",")[0], 16)
        for index, value in enumerate(line.split("payload:")[1].split("}")[0].split()):
            found[offset + index] = int(value, 16)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_public_trace_reads_as_what_a_naive_scan_finds(folder: Path) -> None:
    scenario = read(folder, SMALL)

    counts, writes = _scanned(folder)
    assert Counter(COMMANDS[type(op)] for op in scenario.ops) == counts
    assert [(op.register, op.value) for op in scenario.ops if isinstance(op, RegWrite)] == writes
    assert (scenario.name, scenario.config, scenario.seed) == (folder.name, "nv_small", 0)
    for op in scenario.ops:
        if isinstance(op, MemLoad):
            in_chunks = {offset + i: byte for offset, data in op.chunks for i, byte in enumerate(data)}
            assert in_chunks == _scanned_bytes(folder / op.file_name)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_public_trace_survives_writing_and_reading(folder: Path, tmp_path: Path) -> None:
    scenario = read(folder, SMALL)
    write(scenario, tmp_path / folder.name)
    assert read(tmp_path / folder.name, SMALL) == scenario


def test_every_public_trace_is_found_below_their_common_folder() -> None:
    assert list(find_traces([TRACES])) == FOLDERS
    assert FOLDERS
