"""Traces of the public project's default branch: every command, what is refused, and how the model plays them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program import ops
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.trace import TraceError, TraceUnsupported, find_traces, read
from tests.references import TRACES_V1, needs_traces_v1
from tests.unit.nvdla.samples import FULL, SMALL
from tests.unit.stimulus.trace.txn_files import DATA, DESTINATION, DONE, SHAPE, lines, make, pass_on, sdp_trace

ROW = DATA[:32]
STATUS = "GLB.S_INTR_STATUS"
SDP_FIRST = next(n for n, line in enumerate(pass_on()) if line.endswith("#SDP.S_POINTER"))

COMMANDS: list[tuple[str, list[ops.Op]]] = [
    ("write_reg 0xffff1401 0x3", [ops.RegWrite("CDMA.S_POINTER", 3)]),
    ("write_reg 0x1401 0x3 # a comment", [ops.RegWrite("CDMA.S_POINTER", 3)]),
    ("read_reg 0xffff1401 0x00010001 0xffffffff", [ops.Poll("CDMA.S_POINTER", 0x10001, mask=0x10001)]),
    ("read_reg 0xffff0003 0xffffffff 0x1", [ops.Poll(STATUS, 1)]),
    ("read_reg 0xffff0003 0x3 <= 0x2", [ops.Poll(STATUS, 2, ops.Comparison.NOT_GREATER, mask=3)]),
    ("read_reg 0xffff0003 0x3 >= 0x2 100", [ops.Poll(STATUS, 2, ops.Comparison.NOT_LESS, mask=3)]),
    ("read_reg 0xffff0003 0x0 0x1", [ops.RegRead(STATUS)]),
    ("wait", [ops.LineWait(), ops.RegRead(STATUS)]),
    ("load_mem 0x80000000 0x20 in.dat", [ops.MemLoad(Ram.MC, 0x80000000, ((0, ROW),), "in.dat")]),
    ("load_mem 0x50000010 0x8 in.dat", [ops.MemLoad(Ram.CVSRAM, 0x50000010, ((0, ROW[:8]),), "in.dat")]),
    (
        "write_mem 0x80000004 0x11223344",
        [ops.MemLoad(Ram.MC, 0x80000004, ((0, b"\x44\x33\x22\x11"),), "write_mem_1.dat")],
    ),
    (
        "dump_mem 0x80000000 0x20 in.dat",
        [
            ops.MemLoad(Ram.MC, 0x80000000, ((0x20, b""),), "room_MC_80000000.dat"),
            ops.CheckFile("line_1", Ram.MC, 0x80000000, 0x20, ((0, ROW),), "in.dat"),
            ops.SyncNotify("GLB", "line_1"),
        ],
    ),
    (
        "read_mem 0x80000000 0xff00ffff 0x11223344",
        [
            ops.MemLoad(Ram.MC, 0x80000000, ((4, b""),), "room_MC_80000000.dat"),
            ops.CheckFile(
                "line_1", Ram.MC, 0x80000000, 4, ((0, b"\x44"), (1, b"\x33"), (3, b"\x11")), "read_mem_1.dat"
            ),
            ops.SyncNotify("GLB", "line_1"),
        ],
    ),
]


@pytest.mark.parametrize(("line", "expected"), COMMANDS, ids=[line for line, _ in COMMANDS])
def test_a_command_reads_as_its_operations(line: str, expected: list[ops.Op], tmp_path: Path) -> None:
    assert list(read(make(tmp_path / "t", line), FULL).ops) == expected


def test_a_wait_that_the_trace_looks_into_itself_gets_no_other_look(tmp_path: Path) -> None:
    folder = make(tmp_path / "t", "wait", f"read_reg 0xffff0003 {DONE} {DONE}")
    assert list(read(folder, FULL).ops) == [ops.LineWait(), ops.Poll(STATUS, 1, mask=1)]


def test_a_trace_is_called_like_its_folder_and_nobody_serves_its_interrupts(tmp_path: Path) -> None:
    folder = make(tmp_path / "own", "wait", plusargs="+read_reg_poll_retries=10 +continue_on_fail\n")
    for path in (folder, folder / "input.txn"):
        scenario = read(path, FULL)
        assert scenario.name == "own"
        assert scenario.settings.poll_deadline_cycles == 11_000
        assert (scenario.settings.serve_interrupts, scenario.settings.continue_on_fail) == (False, True)


def test_traces_of_both_kinds_are_found_together(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a", "wait"), tmp_path / "b"
    second.mkdir()
    (second / "b.cfg").touch()
    assert find_traces([tmp_path]) == (first, second)
    assert find_traces([first, first / "input.txn"]) == (first,)


BAD: list[tuple[str, str]] = [
    ("reg_write 0x1401 0x3", "unknown command reg_write; allowed: dump_mem, load_mem, read_mem, read_reg, wait, "),
    ("write_reg 0x1401", "the command must be write_reg ADDRESS VALUE, not with 1 arguments"),
    ("wait 0x1", "the command must be wait, not with 1 arguments"),
    ("write_reg 5121 0x3", "ADDRESS must be a 0x-prefixed number, not 5121"),
    ("write_reg 0x1401 0x100000000", "VALUE must be 0x0 to 0xffffffff, not 0x100000000"),
    ("write_reg 0xffffffff 0x3", "nv_full has no register at word address 0xffff"),
    ("read_reg 0x1401 0x1 != 0x0", "COMPARISON must be one of ==, <=, >=, not !="),
    ("load_mem 0x80000000 0x0 in.dat", "SIZE must be 0x1 to 0x40000000, not 0x0"),
    ("load_mem 0x70000000 0x20 in.dat", "ADDRESS must be 0x5... (CVSRAM) or 0x8... (MC), not 0x70000000"),
    ("load_mem 0x5ffffff0 0x20 in.dat", "load_mem must end in the memory where it begins, not at 0x60000010"),
    ("load_mem 0x80000000 0x20 no.dat", "data file no.dat does not exist"),
    ("load_mem 0x80000000 0x20 ../in.dat", "data file ../in.dat must lie in the trace's folder"),
    ("dump_mem 0x80000000 0x1000 in.dat", "in.dat must hold the 0x1000 bytes of the command, not 0xc0"),
    ("read_mem 0x80000000 0x1 0x1", "MASK of memory must be of whole bytes, not 0x1"),
    ("read_mem 0x80000000 0x0 0x1", "MASK of memory must be of whole bytes, not 0x0"),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=[line for line, _ in BAD])
def test_a_bad_command_is_refused_with_file_and_line(line: str, message: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "t", "# nothing yet", line)
    place = f"{folder / 'input.txn'}:2"
    with pytest.raises(TraceError, match=rf"^{re.escape(f'{place}: {message}')}"):
        read(folder, FULL)


def test_a_trace_without_commands_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "t", "# nothing")
    message = f"{folder / 'input.txn'}: a trace must hold at least one command"
    with pytest.raises(TraceError, match=rf"^{re.escape(message)}$"):
        read(folder, FULL)


def test_a_configuration_with_another_register_map_refuses_the_trace(tmp_path: Path) -> None:
    folder = make(tmp_path / "t", "wait")
    place = folder / "input.txn"
    message = f"{place}: the trace is written for the register map of nv_full, which nv_small has not"
    with pytest.raises(TraceUnsupported, match=rf"^{re.escape(message)}"):
        read(folder, SMALL)


def model(folder: Path) -> Verdict:
    return play_model(read(folder, FULL), FULL).verdict


def test_the_bytes_of_a_layer_are_compared_where_the_trace_dumps_them(tmp_path: Path) -> None:
    verdict = model(sdp_trace(tmp_path / "t", f"dump_mem {DESTINATION:#x} {len(DATA):#x} out.dat"))
    assert complaints(verdict) == []
    assert (verdict.ending, verdict.judged_bytes, verdict.crc_passed) == (Ending.PASSED, len(DATA), 1)
    assert SHAPE[1] * SHAPE[2] * 32 == len(DATA)


def test_a_dump_compares_memory_as_it_is_at_that_point_of_the_program(tmp_path: Path) -> None:
    dump = f"dump_mem {DESTINATION:#x} {len(DATA):#x} out.dat"
    again = f"load_mem {DESTINATION:#x} 0x20 other.dat"
    files = {"other": lines(bytes(32))}
    assert model(sdp_trace(tmp_path / "before", dump, again, **files)).ending is Ending.PASSED
    late = model(sdp_trace(tmp_path / "after", again, dump, **files))
    assert late.ending.is_failure


def test_a_dump_before_the_layer_differs(tmp_path: Path) -> None:
    dump = f"dump_mem {DESTINATION:#x} {len(DATA):#x} out.dat"
    folder = make(tmp_path / "t", dump, f"load_mem 0x80200000 {len(DATA):#x} in.dat", *pass_on(), "wait")
    assert model(folder).ending.is_failure


def test_words_of_memory_are_compared(tmp_path: Path) -> None:
    word = int.from_bytes(DATA[:4], "little")
    dump = f"dump_mem {DESTINATION:#x} {len(DATA):#x} out.dat"
    right = model(sdp_trace(tmp_path / "right", dump, f"read_mem {DESTINATION:#x} {word:#x}"))
    assert (right.ending, right.crc_passed) == (Ending.PASSED, 2)
    wrong = model(sdp_trace(tmp_path / "wrong", dump, f"read_mem {DESTINATION:#x} 0xff {word ^ 1:#x}"))
    assert wrong.ending.is_failure


def test_a_wait_that_no_layer_ends_is_a_hang(tmp_path: Path) -> None:
    dump = f"dump_mem {DESTINATION:#x} {len(DATA):#x} out.dat"
    verdict = model(sdp_trace(tmp_path / "t", dump, "wait"))
    assert complaints(verdict) == [
        "wait for dla_intr never ends: no interrupt is set, and no layer that was started owes one"
    ]
    assert verdict.ending is Ending.HANG


def test_a_poll_for_an_interrupt_that_no_layer_owes_never_holds(tmp_path: Path) -> None:
    verdict = model(sdp_trace(tmp_path / "t", "read_reg 0xffff0003 0x4 0x4"))
    assert complaints(verdict) == [f"poll of {STATUS} & 0x4 for equal 0x4 never ends: it reads 0x0 and does not change"]


def test_a_failed_read_ends_the_trace_unless_its_options_say_otherwise(tmp_path: Path) -> None:
    commands = ("write_reg 0x100b 0x40", "read_reg 0x100b 0xffffffe0 0x20", "read_reg 0x100b 0xffffffe0 0x60")
    reads = [
        f"poll of BDMA.CFG_DST_SURF & 0xffffffe0 for equal {value} never ends: it reads 0x40 and does not change"
        for value in ("0x20", "0x60")
    ]
    assert complaints(model(make(tmp_path / "ends", *commands))) == reads[:1]
    assert complaints(model(make(tmp_path / "goes_on", *commands, plusargs="+continue_on_fail"))) == reads


@needs_traces_v1
@pytest.mark.parametrize("name", ["conv_8x8_fc_int16", "sanity0", "sanity3_cvsram", "sdp_relu_int16"])
def test_the_public_traces_of_nv_full_agree_with_the_model(name: str) -> None:
    verdict = model(TRACES_V1 / name)
    assert complaints(verdict) == []
    assert verdict.ending is Ending.PASSED
    assert verdict.differing_bytes == 0


@needs_traces_v1
def test_a_public_trace_whose_layer_has_no_golden_bytes_is_no_pass_of_the_model() -> None:
    verdict = model(TRACES_V1 / "sanity1")
    assert (verdict.ending, verdict.layers, verdict.unchecked) == (Ending.EMPTY, 1, 0)
