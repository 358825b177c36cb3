"""Scenarios as traces: what is written, what comes back, what cannot be written."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nvdla_models.limits import MEMORY_BYTES
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import (
    INTERRUPT_UNITS,
    CheckCrc,
    CheckFile,
    CheckNothing,
    Comparison,
    InterruptNotify,
    LineWait,
    MemInit,
    MemLoad,
    Op,
    Poll,
    RegRead,
    RegWrite,
    SyncNotify,
    SyncWait,
)
from nvdla_tb.nvdla.registers import Register, RegisterMap
from nvdla_tb.stimulus.scenario import Scenario, memory_ops
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings
from nvdla_tb.stimulus.trace import TraceError, read, write
from tests.unit.nvdla.samples import FULL, SMALL
from tests.unit.stimulus.trace.conftest import SPELLED

REGISTERS = list(RegisterMap.of(FULL))
UNITS = RegisterMap.of(FULL).units

words = st.integers(0, (1 << 32) - 1)
masks = st.integers(1, (1 << 32) - 1)
addresses = st.integers(0, (1 << 60) - 1)
sizes = st.integers(1, MEMORY_BYTES)
MOST_OPS = 12
# All fills of a scenario together must keep the reader's limit.
fill_sizes = st.integers(1, MEMORY_BYTES // MOST_OPS)
rams = st.sampled_from((Ram.MC, Ram.CVSRAM))
sync_ids = st.sampled_from(["sync_id_0", "a", "B9_", "0"])
registers = st.sampled_from(REGISTERS).map(lambda register: register.full_name)
units = st.sampled_from(UNITS)
# Names that can be files, that cannot, and that are the same file on some systems.
file_names = st.one_of(
    st.sampled_from(
        ["in.dat", "IN.dat", "data_0.dat", "../up.dat", "/a.dat", "t.cfg", "in", "x/y.dat", 'q"\n.dat', ""]
    ),
    st.text(max_size=8),
)
# Offsets on a small range, so that chunks touch and overlap; sizes around a packet's.
chunk_lists = st.lists(
    st.tuples(st.sampled_from([0, 1, 32, 33, 64, 0x1000]), st.one_of(st.binary(max_size=3), st.binary(max_size=70))),
    max_size=5,
).map(tuple)


@st.composite
def field_polls(draw: st.DrawFn) -> Poll:
    register: Register = draw(st.sampled_from([register for register in REGISTERS if register.fields]))
    field = draw(st.sampled_from(register.fields))
    value = draw(st.integers(0, (1 << field.width) - 1))
    return Poll(register.full_name, value, draw(st.sampled_from(Comparison)), field.name)


@st.composite
def file_checks(draw: st.DrawFn) -> CheckFile:
    chunks = draw(chunk_lists.filter(lambda chunks: any(data for _, data in chunks)))
    end = max(offset + len(data) for offset, data in chunks)
    nbytes = end + draw(st.integers(0, 100))
    return CheckFile(draw(sync_ids), draw(rams), draw(addresses), nbytes, chunks, draw(file_names))


raising: st.SearchStrategy[Op] = st.one_of(
    st.builds(InterruptNotify, st.sampled_from(INTERRUPT_UNITS), st.integers(0, 1), sync_ids),
    st.builds(SyncNotify, units, sync_ids),
)
waiting: st.SearchStrategy[Op] = st.one_of(
    st.builds(SyncWait, units, sync_ids),
    st.builds(CheckCrc, sync_ids, rams, addresses, sizes, words),
    file_checks(),
    st.builds(CheckNothing, sync_ids),
)
other: st.SearchStrategy[Op] = st.one_of(
    st.builds(RegWrite, registers, words, st.booleans()),
    st.builds(RegRead, registers, st.none() | words),
    st.builds(Poll, registers, words, st.sampled_from(Comparison)),
    field_polls(),
    st.builds(lambda op, mask: replace(op, value=op.value & mask, mask=mask), st.builds(Poll, registers, words), masks),
    st.builds(MemInit, rams, addresses, fill_sizes, st.just(0)),
    st.builds(MemInit, rams, addresses, st.integers(1, 100), st.integers(0, 255)),
    st.builds(MemLoad, rams, addresses, chunk_lists, file_names),
)
probabilities = st.floats(0, 1, exclude_max=True)
all_settings = st.builds(
    BenchSettings,
    port=st.builds(
        PortSettings,
        latency_cycles=st.none() | st.integers(0, 65535),
        jitter_cycles=st.integers(0, 65535),
        ready_stall=probabilities,
        valid_stall=probabilities,
        reorder=st.booleans(),
        write_latency_cycles=st.none() | st.integers(0, 65535),
        pause_cycles=st.integers(0, 99),
        pause_period_cycles=st.integers(100, 65535),
        pause_channels=st.sampled_from(["", "ar", "aw w b"]),
    ),
    csb_stall=probabilities,
    csb_outstanding=st.integers(1, 3),
    csb_period=st.floats(0.05, 20),
    csb_phase=st.floats(0, 19),
    serve_interrupts=st.booleans(),
    continue_on_fail=st.booleans(),
    reset_cycle=st.none() | st.integers(1, 1 << 40),
    poison_reads=st.sampled_from(["error", "count"]),
    stray_accesses=st.sampled_from(["error", "count"]),
    unmapped_accesses=st.sampled_from(["error", "count"]),
    hang_cycles=st.integers(1, 1 << 40),
    poll_deadline_cycles=st.integers(1, 1 << 40),
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    ops = draw(st.lists(st.one_of(other, raising, waiting), max_size=MOST_OPS))
    for sync_id in sorted({op.sync_id for op in ops if hasattr(op, "sync_id")}):
        at = draw(st.integers(0, len(ops)))
        ops.insert(at, InterruptNotify(draw(st.sampled_from(INTERRUPT_UNITS)), draw(st.integers(0, 1)), sync_id))
    name = draw(st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=12))
    settings = draw(all_settings)
    if not settings.serve_interrupts:
        ops += [LineWait()] * draw(st.integers(0, 2))
    return Scenario(name, "nv_full", tuple(ops), draw(st.integers(0, (1 << 63) - 1)), settings)


@pytest.mark.slow
@given(scenario=scenarios())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_scenario_survives_writing_and_reading(scenario: Scenario) -> None:
    with tempfile.TemporaryDirectory() as root:
        write(scenario, Path(root) / "t")
        assert read(Path(root) / "t", FULL) == scenario


@given(scenario=scenarios())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_needs_no_notes_to_be_a_trace_of_the_same_commands(scenario: Scenario) -> None:
    """Another player sees the comments as comments: without them the trace must still be sound."""
    with tempfile.TemporaryDirectory() as root:
        cfg = write(scenario, Path(root) / "t")
        bare = [line for line in cfg.read_text().splitlines() if not line.startswith("//")]
        assert all(re.fullmatch(r'\w+\([\w., ]*("\w+(\.\w+)*\.dat")?\);', line, re.ASCII) for line in bare)
        cfg.write_text("\n".join(["// no note", *bare]))
        if bare:
            assert len(read(cfg, FULL).ops) == len(scenario.ops)


def small(*ops: Op) -> Scenario:
    return Scenario("t", "nv_small", ops, 3)


def test_a_scenario_is_written_in_the_public_spelling(tmp_path: Path) -> None:
    scenario = small(*(op for _, op in SPELLED))
    cfg = write(scenario, tmp_path / "t")
    assert cfg == tmp_path / "t" / "t.cfg"
    assert cfg.read_text().splitlines()[1:] == [line for line, _ in SPELLED]
    assert sorted(path.name for path in cfg.parent.iterdir()) == ["in.dat", "t.cfg"]
    assert read(cfg, SMALL) == scenario


def test_what_the_format_cannot_say_stands_in_comments(tmp_path: Path) -> None:
    cfg = write(
        small(
            RegWrite("SDP.D_CVT_SHIFT", 1, posted=False),
            MemInit(Ram.MC, 0, 4, 0xA5),
            MemLoad(Ram.MC, 8, ((0, b"a"), (1, b"b")), "layer 0.dat"),
        ),
        tmp_path / "t",
    )
    assert cfg.read_text().splitlines()[1:] == [
        '// nvdla-testbench: {"posted": false}',
        "reg_write(NVDLA_SDP.D_CVT_SHIFT_0, 0x1);",
        '// nvdla-testbench: {"fill": 165}',
        'mem_load(pri_mem, 0x0, "fill.dat");',
        '// nvdla-testbench: {"chunks": [[0, 1], [1, 1]], "file_name": "layer 0.dat"}',
        'mem_load(pri_mem, 0x8, "data_0.dat");',
    ]
    assert (cfg.parent / "fill.dat").read_text() == "{\n{offset:0x0, size:4, payload:0xa5 0xa5 0xa5 0xa5}\n}\n"


def test_a_memory_image_survives_as_operations(tmp_path: Path) -> None:
    image = MemoryImage()
    rng = np.random.default_rng(17)
    for nbytes in (1, 33, 100_000):
        image.write(image.allocate(nbytes, f"cube {nbytes}"), rng.integers(0, 256, nbytes, np.uint8))
    image.allocate(64, "output")
    scenario = small(*memory_ops(image, Ram.MC))
    assert len(scenario.ops) == 4
    write(scenario, tmp_path / "t")
    assert read(tmp_path / "t", SMALL) == scenario


UNWRITABLE: list[tuple[Op, str]] = [
    (RegWrite("SDP", 1), "register must be spelt UNIT.NAME, not SDP"),
    (RegWrite("SDP.D_CVT_SHIFT", 1 << 32), "value must be 0 to 0xffffffff, not 0x100000000"),
    (RegWrite("SDP.D_CVT_SHIFT", -1), "value must be 0 to 0xffffffff, not -0x1"),
    (RegRead("SDP.D_CVT_SHIFT", -1), "expected must be 0 to 0xffffffff, not -0x1"),
    (Poll("SDP.D_CVT_SHIFT", -1), "value must be 0 to 0xffffffff, not -0x1"),
    (Poll("SDP.D_CVT_SHIFT", 1, field="CVT_SHIFT"), "field must be lower-case, not CVT_SHIFT"),
    (MemInit(Ram.MC, 0, 0), "size must be 1 to 0xffffffffffffffff, not 0x0"),
    (MemInit(Ram.MC, 0, 1, 256), "value must be 0 to 0xff, not 0x100"),
    (MemInit(Ram.MC, -1, 1), "address must be 0 to 0xffffffffffffffff, not -0x1"),
    (
        MemInit(Ram.MC, (1 << 64) - 1, 2),
        "address after the range must be 0 to 0x10000000000000000, not 0x10000000000000001",
    ),
    (
        MemLoad(Ram.MC, (1 << 64) - 1, ((0, b"ab"),), "in.dat"),
        "address after the range must be 0 to 0x10000000000000000, not 0x10000000000000001",
    ),
    (
        MemLoad(Ram.MC, 8, ((-1, b"ab"),), "in.dat"),
        "chunk offset must be 0 to 0xffffffffffffffff, not -0x1",
    ),
    (
        InterruptNotify("CSC", 0, "s"),
        f"interrupt must be one of {', '.join(INTERRUPT_UNITS)} with group 0 or 1, not CSC with 0",
    ),
    (InterruptNotify("SDP", 0, "a b"), "sync_id must be letters, digits and _, not 'a b'"),
    (SyncNotify("A-B", "s"), "target must be letters, digits and _, not 'A-B'"),
    (CheckNothing("s"), "nothing raises sync_id s; raised: none"),
    (
        CheckFile("s", Ram.MC, 0, 4, ((0, b""),), "in.dat"),
        "a golden file must hold at least one byte: nothing would be compared",
    ),
    (
        CheckFile("s", Ram.MC, 0, 4, ((1, b"abcd"),), "in.dat"),
        "a golden file must end within the 0x4 bytes of its check, not at 0x5",
    ),
]


@pytest.mark.parametrize(("op", "message"), UNWRITABLE)
def test_an_operation_that_no_trace_can_hold_is_refused_and_nothing_is_written(
    op: Op, message: str, tmp_path: Path
) -> None:
    scenario = small(RegRead("GLB.S_INTR_STATUS"), op)
    with pytest.raises(TraceError, match=f"^{re.escape(f'operation 1 ({type(op).__name__}): {message}')}$"):
        write(scenario, tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_a_folder_with_anything_in_it_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "old.cfg").write_text("")
    message = f"{tmp_path}: a trace must be written to a folder that is new or empty"
    with pytest.raises(TraceError, match=f"^{re.escape(message)}$"):
        write(small(), tmp_path)
    with pytest.raises(TraceError, match=f"^{re.escape(message.replace(':', '/old.cfg:', 1))}$"):
        write(small(), tmp_path / "old.cfg")


def test_an_empty_folder_is_written_to(tmp_path: Path) -> None:
    write(small(), tmp_path)
    assert read(tmp_path, SMALL) == small()
