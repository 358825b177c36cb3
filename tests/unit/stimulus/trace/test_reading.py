"""Every command of the format, in every form that it has."""

from __future__ import annotations

import pytest

from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program import ops
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings
from nvdla_tb.stimulus.trace import read
from tests.unit.nvdla.samples import FULL, SMALL
from tests.unit.stimulus.trace.conftest import CHUNKS, SPELLED, MakeTrace

RAISED = "intr_notify(SDP_0, s);"

COMMANDS: list[tuple[str, ops.Op]] = [
    *SPELLED,
    ("reg_write ( NVDLA_SDP.D_CVT_SHIFT_0 ,17 ) ;", ops.RegWrite("SDP.D_CVT_SHIFT", 17)),
    ("reg_write(SDP.D_CVT_SHIFT, 0xFFFFffff);", ops.RegWrite("SDP.D_CVT_SHIFT", 0xFFFFFFFF)),
    ("reg_write(NVDLA_CDMA.D_MEAN_GLOBAL_0_0, 1)", ops.RegWrite("CDMA.D_MEAN_GLOBAL_0", 1)),
    ("reg_write(CDMA.D_MEAN_GLOBAL_0, 1)", ops.RegWrite("CDMA.D_MEAN_GLOBAL_0", 1)),
    ("reg_write(0x9038, 1)", ops.RegWrite("SDP.D_OP_ENABLE", 1)),
    ("reg_write(36920, 1)", ops.RegWrite("SDP.D_OP_ENABLE", 1)),
    ("reg_read(NVDLA_GLB.S_INTR_STATUS_0);", ops.RegRead("GLB.S_INTR_STATUS")),
    ("reg_read_expected(0x1000, 0x1);", ops.RegRead("GLB.S_NVDLA_HW_VERSION", 1)),
    ("reg_read_check(NVDLA_GLB.S_INTR_STATUS_0, 0x1);", ops.RegRead("GLB.S_INTR_STATUS", 1)),
    ("mem_init(1, 0xfffffff0, 16, ALL_ZERO);", ops.MemInit(Ram.MC, 0xFFFFFFF0, 16, 0)),
    ('mem_load(PRI_MEM, 0x40, "in.dat");', ops.MemLoad(Ram.MC, 0x40, CHUNKS, "in.dat")),
    ("intr_notify(CDMA_WT_1, s);", ops.InterruptNotify("CDMA_WT", 1, "s")),
    ("intr_notify(pdp_1, s);", ops.InterruptNotify("PDP", 1, "s")),
    ("sync_wait(CSC, s);", ops.SyncWait("CSC", "s")),
    ("check_crc(s, 1, 0x40, 32, 0x0972f158);", ops.CheckCrc("s", Ram.MC, 0x40, 0x20, 0x0972F158)),
    ('check_file(s, pri_mem, 0x40, 98, "in.dat");', ops.CheckFile("s", Ram.MC, 0x40, 98, CHUNKS, "in.dat")),
]


@pytest.mark.parametrize(("text", "op"), COMMANDS, ids=[text for text, _ in COMMANDS])
def test_a_command_reads_as_its_operation(text: str, op: ops.Op, make_trace: MakeTrace) -> None:
    assert read(make_trace(f"{RAISED} {text}"), SMALL).ops[-1] == op


@pytest.mark.parametrize("comparison", ops.Comparison)
@pytest.mark.parametrize("target", ["", "NVDLA_CDMA, ", "CDMA, "])
def test_polls_read_with_and_without_target(comparison: ops.Comparison, target: str, make_trace: MakeTrace) -> None:
    register = "NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0"
    trace = make_trace(
        f"poll_reg_{comparison.value}({target}{register}, 0x1);\n"
        f"poll_field_{comparison.value}({target}{register}, FLUSH_DONE, 1);\n"
    )
    assert read(trace, SMALL).ops == (
        ops.Poll("CDMA.S_CBUF_FLUSH_STATUS", 1, comparison),
        ops.Poll("CDMA.S_CBUF_FLUSH_STATUS", 1, comparison, "flush_done"),
    )


@pytest.mark.parametrize("memory", ["sec_mem", "0"])
def test_the_secondary_memory_is_cvsram(memory: str, make_trace: MakeTrace) -> None:
    trace = make_trace(f"mem_init({memory}, 0x10000000000, 0x20, ALL_ZERO);")
    assert read(trace, FULL).ops == (ops.MemInit(Ram.CVSRAM, 1 << 40, 0x20, 0),)


def test_the_address_of_a_register_depends_on_the_configuration(make_trace: MakeTrace) -> None:
    assert read(make_trace("reg_write(0xb038, 1)"), FULL).ops == (ops.RegWrite("SDP.D_OP_ENABLE", 1),)


def test_comments_empty_lines_and_several_commands_a_line_change_nothing(make_trace: MakeTrace) -> None:
    trace = make_trace(
        "// reg_write(NVDLA_SDP.D_CVT_SHIFT_0, 1);\r\n"
        "# reg_write(NVDLA_SDP.D_CVT_SHIFT_0, 2);\n\n\t\n"
        "/* reg_write(NVDLA_SDP.D_CVT_SHIFT_0, 3);\n über // */ reg_write(SDP.D_CVT_SHIFT_0, /* four */ 4); // five\n"
        "reg_write(SDP.D_CVT_SHIFT_0, 6) reg_write(SDP.D_CVT_SHIFT_0, 7);;reg_write(SDP.D_CVT_SHIFT_0,\n 8) # nine"
    )
    assert [op.value for op in read(trace, SMALL).ops if isinstance(op, ops.RegWrite)] == [4, 6, 7, 8]


def test_a_check_may_stand_before_what_raises_its_sync_id(make_trace: MakeTrace) -> None:
    trace = make_trace("check_nothing(s);\nsync_wait(CSC, t);\nsync_notify(CACC, t);\nintr_notify(SDP_0, s);\n")
    assert len(read(trace, SMALL).ops) == 4


def test_a_folder_and_its_cfg_read_the_same(make_trace: MakeTrace) -> None:
    folder = make_trace(RAISED)
    scenario = read(folder, SMALL)
    assert read(folder / "t.cfg", SMALL) == scenario
    assert (scenario.name, scenario.config, scenario.seed, scenario.settings) == ("t", "nv_small", 0, BenchSettings())


def test_a_data_file_in_a_folder_of_the_trace_is_read(make_trace: MakeTrace) -> None:
    folder = make_trace('mem_load(pri_mem, 0, "data/a.dat");')
    (folder / "data").mkdir()
    (folder / "in.dat").rename(folder / "data" / "a.dat")
    assert read(folder, SMALL).ops == (ops.MemLoad(Ram.MC, 0, CHUNKS, "data/a.dat"),)


def test_settings_in_a_note_may_leave_out_defaults(make_trace: MakeTrace) -> None:
    trace = make_trace(
        '// nvdla-testbench: {"scenario": {"name": "n", "config": "nv_small", "seed": 7, '
        '"settings": {"port": {"reorder": true}}}}\n'
    )
    scenario = read(trace, SMALL)
    assert (scenario.name, scenario.seed, scenario.ops) == ("n", 7, ())
    assert scenario.settings == BenchSettings(port=PortSettings(reorder=True))
