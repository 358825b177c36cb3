"""What the reader refuses: every rule with its whole message."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_tb.nvdla.program.ops import INTERRUPT_UNITS
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.stimulus.trace import TraceUnsupported, read, reader
from tests.unit.nvdla.samples import FULL, SMALL
from tests.unit.stimulus.trace.conftest import MakeTrace, refusal

UNITS = ", ".join(RegisterMap.of(SMALL).units)
ALL_COMMANDS = (
    "check_crc, check_file, check_nothing, intr_notify, mem_init, mem_load, "
    "poll_field_equal, poll_field_greater, poll_field_less, poll_field_not_equal, poll_field_not_greater, "
    "poll_field_not_less, poll_reg_equal, poll_reg_greater, poll_reg_less, poll_reg_not_equal, "
    "poll_reg_not_greater, poll_reg_not_less, reg_read, reg_read_check, reg_read_expected, reg_write, "
    "sync_notify, sync_wait"
)
R = "NVDLA_SDP.D_CVT_SHIFT_0"
NUMBER = "must be a decimal or 0x-prefixed number, not"
INTERRUPTS = f"interrupt must be one of {', '.join(INTERRUPT_UNITS)} with _0 or _1, not"
MEMORY = "memory must be one of pri_mem, 1, sec_mem, 0, not"
HEADER = '{"scenario": {"name": "t", "config": "nv_small", "seed": 1, "settings": {}}}'
NOTE = "// nvdla-testbench: "

TEXT = [
    ("@", "text must be commands and comments, not '@'"),
    ("reg_write(SDP.D_CVT_SHIFT, -1);", "text must be commands and comments, not '-'"),
    ("\\\n", "text must be commands and comments, not '\\\\'"),
    ("/* to the end", "a comment must end with */"),
    ('mem_load(pri_mem, 0, "in.dat\n");', 'a quoted file must end with " on the same line'),
    ("(1);", "a command must begin with its name, not ("),
    ('"in.dat"', 'a command must begin with its name, not "in.dat"'),
    ("reg_write;", "reg_write: ( must follow, not ;"),
    (f"reg_write({R}, 1;", "reg_write: , or ) must follow, not ;"),
    (f"reg_write({R}, );", "reg_write: an argument must be a word or a file, not )"),
    (f"reg_write({R}, 1", "reg_write must end with ), not with the file"),
    ("write_reg(1);", f"unknown command write_reg; allowed: {ALL_COMMANDS}"),
]

ARGUMENTS = [
    ("check_nothing();", "check_nothing must have (sync_id), not 0 arguments"),
    (f"reg_write({R});", "reg_write must have (register, value), not 1 arguments"),
    (f"reg_read({R}, v, w);", "reg_read must have (register) or (register, name), not 3 arguments"),
    (f"reg_read_expected({R});", "reg_read_expected must have (register, value), not 1 arguments"),
    (f"poll_reg_less({R});", "poll_reg_less must have (register, value) or (target, register, value), not 1 arguments"),
    (
        f"poll_field_less({R}, 1);",
        "poll_field_less must have (register, field, value) or (target, register, field, value), not 2 arguments",
    ),
    ("mem_init(1, 0, 0x40000001, ALL_ZERO);", "size must be 1 to 0x40000000, not 0x40000001"),
    ("check_crc(s, 1, 0, 0x200000000, 2);", "size must be 1 to 0x40000000, not 0x200000000"),
    ("mem_init(1, 0, 1);", "mem_init must have (memory, address, size, pattern), not 3 arguments"),
    ("mem_load(1, 0);", 'mem_load must have (memory, address, "file"), not 2 arguments'),
    ("intr_notify(s);", "intr_notify must have (interrupt, sync_id), not 1 arguments"),
    ("sync_wait(s);", "sync_wait must have (target, sync_id), not 1 arguments"),
    ("check_crc(s, 1, 0, 1);", "check_crc must have (sync_id, memory, address, size, crc), not 4 arguments"),
    (
        'check_file(s, 1, 0, 1, 2, "in.dat");',
        'check_file must have (sync_id, memory, address, size, "file"), not 6 arguments',
    ),
]

REGISTERS = [
    (f'reg_write("{R}", 1);', f'register must not be quoted: "{R}"'),
    ("reg_write(SDP, 1);", "register must be spelt UNIT.NAME or be a byte address, not SDP"),
    ("reg_write(NVDLA_XYZ.D_CVT_SHIFT_0, 1);", f"unit must be one of {UNITS}, not XYZ"),
    ("reg_write(NVDLA_SDP.D_NOTHING_0, 1);", "unit SDP has no register D_NOTHING_0"),
    ("reg_write(0x9039, 1);", "register address must be a multiple of 4 bytes, not 0x9039"),
    ("reg_write(0x10000, 1);", "nv_small has no register at byte address 0x10000"),
    (
        "reg_write(0x10000000000000000, 1);",
        "register address must be 0 to 0xffffffffffffffff, not 0x10000000000000000",
    ),
    (f"reg_write({R}, 0x100000000);", "value must be 0 to 0xffffffff, not 0x100000000"),
    (f"reg_write({R}, {'9' * 5000});", f"value must be 0 to 0xffffffff, not {'9' * 500}..."),
    (f"reg_write({R}, 010);", f"value {NUMBER} 010"),
    (f"reg_write({R}, 1.5);", f"value {NUMBER} 1.5"),
    (f"reg_write({R}, 0xfg);", f"value {NUMBER} 0xfg"),
    (f"reg_read({R}, a.b);", "name must be letters, digits and _, not a.b"),
    (f"reg_read_expected({R}, x);", f"value {NUMBER} x"),
    (f"poll_reg_equal(CSC, {R}, 1);", "target must be SDP, the unit of the register, not CSC"),
    (f"poll_reg_equal(ABC, {R}, 1);", f"target must be one of {UNITS}, not ABC"),
    (f"poll_field_equal({R}, SHIFT, 1);", "SDP.D_CVT_SHIFT has no field shift; it has cvt_shift"),
    (f"poll_field_equal({R}, CVT_SHIFT, 64);", "value of SDP.D_CVT_SHIFT.cvt_shift must be 0 to 0x3f, not 64"),
]

MEMORIES = [
    ("mem_init(2, 0, 1, ALL_ZERO);", f"{MEMORY} 2"),
    ("mem_init(1, 0, 1, RANDOM);", "pattern must be ALL_ZERO, not RANDOM"),
    ("mem_init(1, 0, 0, ALL_ZERO);", "size must be 1 to 0x40000000, not 0"),
    ("mem_init(1, x, 1, ALL_ZERO);", f"address {NUMBER} x"),
    ("mem_init(1, 0x100000000, 1, ALL_ZERO);", "address must be 0 to 0xffffffff, not 0x100000000"),
    (
        "mem_init(1, 0xfffffff0, 17, ALL_ZERO);",
        "mem_init must end within the 32-bit addresses of nv_small, not at 0x100000001",
    ),
    (
        'mem_load(1, 0xffffffa0, "in.dat");',
        "mem_load must end within the 32-bit addresses of nv_small, not at 0x100000002",
    ),
    ("mem_load(1, 0, in.dat);", "file must be quoted, not in.dat"),
    ('mem_load(1, 0, "out.dat");', "data file out.dat does not exist"),
    ('mem_load(1, 0, "");', "data file  does not exist"),
    (f'mem_load(1, 0, "{"x" * 400}");', f"data file {'x' * 400} does not exist"),
    ('mem_load(1, 0, "../t2/in.dat");', "data file ../t2/in.dat must lie in the trace's folder"),
    ('mem_load(1, 0, "/etc/hostname");', "data file /etc/hostname must lie in the trace's folder"),
]

SYNCS = [
    ("intr_notify(SDP_2, s);", f"{INTERRUPTS} SDP_2"),
    ("intr_notify(CSC_0, s);", f"{INTERRUPTS} CSC_0"),
    ("intr_notify(SDP_0, s.t);", "sync_id must be letters, digits and _, not s.t"),
    ("sync_notify(NVDLA_ABC, s);", f"target must be one of {UNITS}, not ABC"),
    ("check_nothing(s);", "nothing raises sync_id s; raised: none"),
    ("sync_wait(CSC, s); sync_notify(CSC, u); sync_notify(CSC, t);", "nothing raises sync_id s; raised: t, u"),
    ("check_crc(s, 1, 0, 1, 2); sync_notify(CSC, t);", "nothing raises sync_id s; raised: t"),
    ('check_file(s, 1, 0, 98, "in.dat");', "nothing raises sync_id s; raised: none"),
    ("check_crc(s, 1, 0, 0, 2);", "size must be 1 to 0x40000000, not 0"),
    ("check_crc(s, 1, 0, 1, 0x100000000);", "crc must be 0 to 0xffffffff, not 0x100000000"),
    (
        "check_crc(s, 1, 4294967295, 2, 0);",
        "check_crc must end within the 32-bit addresses of nv_small, not at 0x100000001",
    ),
    (
        'check_file(s, 1, 4294967295, 2, "in.dat");',
        "check_file must end within the 32-bit addresses of nv_small, not at 0x100000001",
    ),
    (
        'check_file(s, 1, 0, 97, "in.dat");',
        "in.dat: a golden file must end within the 0x61 bytes of its check, not at 0x62",
    ),
    (
        'check_file(s, 1, 0, 97, "empty.dat");',
        "empty.dat: a golden file must hold at least one byte: nothing would be compared",
    ),
]

NOTES = [
    (
        f"{NOTE}{{",
        "a note must be JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    ),
    (f"{NOTE}[1]", "a note must be a JSON object, not [1]"),
    (f'{NOTE}{{"posted": false}}', "a note must stand before a command, not at the end"),
    (f'{NOTE}{{"posted": 1}}\nreg_write({R}, 1);', "a note: posted must be true or false, not 1"),
    (f'{NOTE}{{"posted": true}}\nreg_read({R});', "a note before reg_read must not hold posted"),
    (f'{NOTE}{{"fill": 1}}\nmem_load(1, 0, "in.dat");', "fill says 0x1 for every byte, and in.dat says otherwise"),
    (
        f'{NOTE}{{"chunks": [[0, -1]]}}\nmem_load(1, 0, "in.dat");',
        "a note: chunks[0] must be 2 integers of at least 0, not [0, -1]",
    ),
    (f'{NOTE}{{"chunks": [[0, 4]]}}\nmem_load(1, 0, "in.dat");', "chunks must cover exactly the packets of in.dat"),
    (f'{NOTE}{{"mask": 1}}\npoll_reg_equal({R}, 2);', "mask must have the bits of 0x2, not 0x1"),
    (f'{NOTE}{{"scenario": 1}}', "a note: scenario must be a table, not 1"),
    (
        NOTE + HEADER.replace("{}", '{"port": {"reorder": 5}}'),
        "a note: scenario.settings.port.reorder must be true or false, not 5",
    ),
]


@pytest.mark.parametrize(("text", "message"), TEXT + ARGUMENTS + REGISTERS + MEMORIES + SYNCS + NOTES)
def test_a_malformed_trace_is_refused_with_file_line_and_rule(text: str, message: str, make_trace: MakeTrace) -> None:
    folder = make_trace("// first line\n\n" + text, empty="{\n}\n")
    assert refusal(folder) == f"{folder}/t.cfg:3: {message}"


ONCE = "the note with scenario must stand alone, once and before every command"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f'{NOTE}{{"posted": 1}}\n{NOTE}{{"posted": 2}}',
            "2: a note must stand before a command, not before another note",
        ),
        (f'reg_write({R},\n{NOTE}{{"posted": 1}}\n1);', "2: a note must stand between commands, not inside reg_write"),
        (f"/* one\n */ reg_write(\n{R},\nx);", f"4: value {NUMBER} x"),
        (f"check_nothing(s); {NOTE}{HEADER}", f"1: {ONCE}"),
        (f"{NOTE}{HEADER}\n{NOTE}{HEADER}", f"2: {ONCE}"),
    ],
)
def test_the_line_of_a_note_or_an_argument_is_named(text: str, message: str, make_trace: MakeTrace) -> None:
    folder = make_trace(text)
    assert refusal(folder) == f"{folder}/t.cfg:{message}"


def test_a_malformed_data_file_is_named_with_its_own_line(make_trace: MakeTrace) -> None:
    folder = make_trace('mem_load(1, 0, "bad.dat");', bad="{\n{offset:0, size:2, payload:0x00}\n}\n")
    assert refusal(folder) == f"{folder}/bad.dat:2: size must be the number of payload bytes, 1, not 2"


def test_a_trace_without_commands_is_refused(make_trace: MakeTrace) -> None:
    folder = make_trace("// nothing\n")
    assert refusal(folder) == f"{folder}/t.cfg: a trace must hold at least one command"


def test_text_that_is_not_utf_8_is_refused(make_trace: MakeTrace) -> None:
    folder = make_trace("")
    (folder / "t.cfg").write_bytes(b"// one\n// \xfc\n")
    assert refusal(folder) == f"{folder}/t.cfg:2: text must be UTF-8, not byte 0xfc"


UNSUPPORTED = [
    ("reg_write(NVDLA_BDMA.CFG_CMD_0, 1);", "nv_small has no unit BDMA"),
    ("reg_read(RBK.S_STATUS);", "nv_small has no unit RBK"),
    ("poll_reg_equal(CVIF, CVIF.CFG_OUTSTANDING_CNT, 1);", "nv_small has no unit CVIF"),
    ("sync_notify(NVDLA_BDMA, s);", "nv_small has no unit BDMA"),
    ("intr_notify(RUBIK_0, s);", "nv_small has no unit RBK"),
    ("mem_init(sec_mem, 0, 1, ALL_ZERO);", "nv_small has no secondary memory (sec_mem)"),
    ("check_crc(s, 0, 0, 1, 0);", "nv_small has no secondary memory (0)"),
    (NOTE + HEADER.replace("nv_small", "nv_full"), "the trace is written for nv_full, not for nv_small"),
]


@pytest.mark.parametrize(("text", "message"), UNSUPPORTED)
def test_what_the_configuration_lacks_is_refused_as_unsupported(text: str, message: str, make_trace: MakeTrace) -> None:
    folder = make_trace("\n" + text)
    assert refusal(folder, error=TraceUnsupported) == f"{folder}/t.cfg:2: {message}"


def test_a_full_configuration_reads_what_a_small_one_refuses(make_trace: MakeTrace) -> None:
    folder = make_trace("\n".join(text for text, _ in UNSUPPORTED[:-2]))
    assert len(read(folder, FULL).ops) == len(UNSUPPORTED) - 2


@pytest.mark.parametrize(
    ("name", "link", "target", "problem"),
    [
        ("link.dat", "link.dat", "../outside.dat", "must lie in the trace's folder"),
        ("up/t/../outside.dat", "up", "..", "must lie in the trace's folder"),
        ("loop.dat", "loop.dat", "loop.dat", "does not exist"),
    ],
)
def test_a_data_file_behind_a_link_out_of_the_folder_or_a_loop_is_refused(
    name: str, link: str, target: str, problem: str, make_trace: MakeTrace, tmp_path: Path
) -> None:
    folder = make_trace(f'mem_load(1, 0, "{name}");')
    (tmp_path / "outside.dat").write_text("{\n}\n")
    (folder / link).symlink_to(target)
    assert refusal(folder) == f"{folder}/t.cfg:1: data file {name} {problem}"


def test_a_link_within_the_folder_is_followed(make_trace: MakeTrace) -> None:
    folder = make_trace('mem_load(1, 0, "link.dat");')
    (folder / "link.dat").symlink_to("in.dat")
    assert len(read(folder, SMALL).ops) == 1


def test_memory_is_counted_over_all_commands(make_trace: MakeTrace, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_trace("mem_init(1, 0, 0x40000000, ALL_ZERO);" * 2)
    limit = f"{folder}/t.cfg: all %s together must have at most %d bytes, not %d"
    assert refusal(folder) == limit % ("mem_init", 1 << 30, 1 << 31)
    monkeypatch.setattr(reader, "MEMORY_BYTES", 5)
    (folder / "t.cfg").write_text('mem_load(1, 0, "in.dat");' * 3, encoding="utf-8")
    assert refusal(folder) == limit % ("mem_load", 5, 18)
