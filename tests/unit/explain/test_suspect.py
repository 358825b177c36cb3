"""Units that findings point at: from data, for each kind of finding, and from where bytes are wrong."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.suspect import suspects
from nvdla_tb.explain.text import explain
from nvdla_tb.explain.units import Unit
from nvdla_tb.judge.csb_rules import CsbRule
from nvdla_tb.judge.detail import (
    AnyDetail,
    BadAccess,
    CsbViolation,
    EarlyInterrupt,
    Hang,
    MissingInterrupt,
    NoAnswer,
    Outstanding,
    PollExpired,
    UnexpectedInterrupt,
    UnfairTurns,
    UnitState,
    Unmatched,
    WrongCounter,
    WrongLine,
    WrongOutstanding,
    WrongRegister,
)
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import Ram
from tests.unit.explain import cases
from tests.unit.run.regress.tasks import wrong

MEMORY = cases.memory_for(5)
CONV, FUSED = LayerId(0, "CONV", 0), LayerId(1, "SDP-PDP", 0)


def told(*findings: Finding) -> list[str]:
    return [str(suspect) for suspect in suspects(Verdict(findings=list(findings)))]


def of(detail: AnyDetail, check: Check = Check.PROTOCOL, layer: LayerId | None = None) -> list[str]:
    return told(Finding(check, detail, 50, layer))


def wrong_of(layer: LayerId, check: Check = Check.VALUE) -> Finding:
    """Return wrong bytes of a layer."""
    return Finding(check, wrong().detail, 30, layer)


def hang(layer: LayerId, *running: str, **more: object) -> list[str]:
    units = tuple(UnitState(unit, ("RUNNING", "IDLE")) for unit in running)
    detail = Hang(5000, (f"{layer.engine}_0",), None, (layer,), (), (), units)
    return of(msgspec.structs.replace(detail, **more), Check.HANG)


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        (
            Unmatched(Ram.MC, 0, 4),
            "write side of the memory interface or the unit that writes: it sent 4 data without address",
        ),
        (
            Unmatched(Ram.MC, 2, 0),
            "write side of the memory interface or the unit that writes: it sent 2 addresses without data",
        ),
        (
            WrongOutstanding(Ram.MC, True, 4, 5),
            "read side of the memory interface: it does not let out as many requests as it was told",
        ),
        (
            UnfairTurns(Ram.MC, False, 1, 4, 1, 20),
            "arbiter of the write side of the memory interface or the weights that reach it: "
            "turns are not as long as the weights",
        ),
        (
            MissingInterrupt("CDMA_WT_0"),
            "done event of CDMA_WT or GLB: all bytes are right, the interrupt alone is missing",
        ),
        (
            MissingInterrupt("CDP_1"),
            "done event of CDP, the answers to its writes or GLB: all bytes are right, the interrupt alone is missing",
        ),
        (
            PollExpired("SDP.S_STATUS", "==", 0, 1, 900),
            "SDP or what it waits for: the state that is polled never comes",
        ),
        (CsbViolation(CsbRule.LINE_OFF_CLOCK), "GLB: the interrupt line changes when it must not"),
        (WrongLine(True, 5, 1, 0), "GLB: the interrupt line is not what its registers say"),
        (
            EarlyInterrupt("CDP_1", Ram.MC, 3, 0x40, 30),
            "CDP or the answers to writes in the memory interface: done before its last write was answered",
        ),
        (
            NoAnswer("write of 0x1 to 0xf000", True, 400),
            "CSB master or the register file of the unit that is accessed: an access is not answered as it must be",
        ),
        (
            WrongCounter("CACC.D_OUT_SATURATION", 3, False, 4),
            "statistics of CACC: all bytes are right, a counter is not",
        ),
        (
            BadAccess(Ram.MC, True, 8, 0x40, 8, 0x40, True, "nowhere"),
            "CDMA (data) or read side of the memory interface: it reads where nothing of the layer lies",
        ),
        (
            BadAccess(Ram.MC, True, 8, 0x40, 8, 0x40, True, "nowhere", named=True),
            "the program: its registers name memory outside every allocation",
        ),
    ],
)
def test_a_finding_names_a_unit(detail: AnyDetail, said: str) -> None:
    assert of(detail) == [said]


@pytest.mark.parametrize(
    ("detail", "named"),
    [
        (Unmatched(Ram.MC, 0, 4), (Unit.MEMORY, Unit.SDP)),
        (WrongOutstanding(Ram.MC, True, 4, 5), (Unit.MEMORY,)),
        (MissingInterrupt("CDMA_WT_0"), (Unit.CDMA, Unit.GLB)),
        (MissingInterrupt("CDP_1"), (Unit.CDP, Unit.MEMORY, Unit.GLB)),
        (WrongRegister("SDP_RDMA.D_OP_ENABLE", 0, 1), (Unit.SDP_RDMA, Unit.CSB)),
        (WrongCounter("CACC.D_OUT_SATURATION", 3, False, 4), (Unit.CACC,)),
        (EarlyInterrupt("CDP_1", Ram.MC, 3, 0x40, 30), (Unit.CDP, Unit.MEMORY)),
        (BadAccess(Ram.MC, True, 8, 0x40, 8, 0x40, True, "nowhere"), (Unit.CDMA, Unit.MEMORY)),
    ],
)
def test_the_units_that_are_named_are_data_as_well(detail: AnyDetail, named: tuple[Unit, ...]) -> None:
    (suspect,) = suspects(Verdict(findings=[Finding(Check.PROTOCOL, detail, 50, CONV)]))
    assert suspect.named == named


def test_writes_that_do_not_match_name_the_unit_that_writes_in_a_layer() -> None:
    layer = LayerId(1, "CONV-PDP", 0)
    detail = Hang(5000, (), None, (layer,), (), (Unmatched(Ram.MC, 1, 0),), ())
    (suspect,) = suspects(Verdict(findings=[Finding(Check.HANG, detail, 50)]))
    assert suspect.named == (Unit.MEMORY, Unit.PDP)


def test_a_reader_that_is_done_is_not_said_to_come_after_what_runs() -> None:
    assert hang(CONV, "CACC", "SDP")[0].startswith("CACC, what feeds it, SDP that takes its data or write side")


def test_a_line_that_is_high_without_an_interrupt_points_at_glb() -> None:
    (said,) = hang(CONV, "SDP", interrupt_status=0)
    assert said == "GLB: the interrupt line is high, and S_INTR_STATUS holds no interrupt"
    assert hang(CONV, "SDP", interrupt_status=1) == hang(CONV, "SDP")


def test_bytes_that_a_done_layer_owes_were_lost_on_their_way_to_memory() -> None:
    idle = Hang(5000, ("SDP_0",), None, (CONV,), (), (), ())
    (suspect,) = suspects(Verdict(findings=[Finding(Check.HANG, idle, 50), wrong_of(CONV, Check.MISSING)]))
    assert str(suspect) == (
        "SDP, its writes or write side of the memory interface: every unit is idle, and not all bytes were written"
    )
    assert suspect.named == (Unit.SDP, Unit.MEMORY)
    other = wrong_of(LayerId(1, "CONV", 1), Check.MISSING)
    assert told(Finding(Check.HANG, idle, 50), other)[0].startswith("done event of SDP, the answers to its writes or ")


def test_a_hang_names_what_runs_and_what_feeds_it() -> None:
    units = tuple(UnitState(unit, ("RUNNING", "IDLE")) for unit in ("CACC", "SDP"))
    detail = Hang(5000, ("SDP_0",), None, (CONV,), (), (), units)
    (suspect,) = suspects(Verdict(findings=[Finding(Check.HANG, detail, 50)]))
    assert suspect.named == (Unit.CACC, Unit.CMAC, Unit.SDP, Unit.MEMORY)


def test_bytes_that_nobody_has_written_may_be_the_programs() -> None:
    read = BadAccess(Ram.MC, True, 8, 0x40, 1, 0x40, False, "cube_0+0x0")
    assert told(Finding(Check.MEMORY, read, 5))[0].endswith("or the program: it reads what nobody has written")


def test_a_wait_for_a_layer_that_was_never_started_is_the_programs() -> None:
    idle = Hang(5000, ("PDP_0",), None, (), (), (), ())
    assert told(Finding(Check.HANG, idle, 50)) == [
        "the program: it waits for an interrupt of PDP, and no layer that was started owes one"
    ]


def test_an_id_of_another_engine_than_those_that_ran_names_nobody() -> None:
    read = BadAccess(Ram.MC, True, 8, 0x40, 2, 0x40, True, "nowhere")
    assert told(Finding(Check.MEMORY, read, 5), wrong_of(CONV)) == [
        "CDMA, CBUF, CSC, CMAC, CACC or SDP: layers of CONV are wrong"
    ]


def test_registers_of_one_unit_are_its_register_file_and_those_of_many_are_not() -> None:
    registers = [Finding(Check.REGISTER, WrongRegister(name, 1, 2), 5) for name in ("CSC.D_BANK", "CSC.D_RELEASE")]
    assert told(*registers) == [
        "register file of CSC or the way to it in the CSB master: "
        "2 of its registers read another value than was written"
    ]
    more = Finding(Check.REGISTER, WrongRegister("SDP.D_BS_CFG", 1, 2), 5)
    assert told(*registers, more)[0].startswith("CSB master or the register file of the unit that is accessed: ")


def test_a_hang_names_the_first_unit_that_is_not_done_or_one_that_is_done_too_early() -> None:
    everything = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP_RDMA", "SDP")
    assert hang(CONV, *everything[1:]) == [
        "CSC, what feeds it, a unit after it that takes no more data or write side of the memory interface: "
        "the first unit that is not done; CDMA before it is idle"
    ]
    assert hang(CONV, "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP_RDMA", "SDP")[0].startswith("CSC, what feeds it, ")
    assert hang(FUSED, "SDP_RDMA", "PDP") == ["SDP or SDP_RDMA: SDP is done, and SDP_RDMA before it is not done"]
    lost = (UnitState("SDP_RDMA", ("PENDING", "RUNNING")), UnitState("SDP", ("PENDING", "IDLE")))
    assert hang(LayerId(0, "SDP", 1), units=lost) == [
        "SDP or SDP_RDMA: SDP waits for its other group, and SDP_RDMA before it is not done"
    ]
    assert hang(LayerId(0, "SDP", 0), "SDP_RDMA", "SDP") == [
        "SDP_RDMA, SDP that takes its data or read side of the memory interface: "
        "SDP_RDMA still reads, and no request is open"
    ]
    request = Outstanding(Ram.MC, True, 0x40, 1)
    assert hang(LayerId(0, "SDP", 0), "SDP_RDMA", "SDP", requests=(request,)) == [
        "memory, memory interface, SDP_RDMA or SDP that takes its data: SDP_RDMA waits, and 1 requests are open"
    ]
    assert hang(LayerId(0, "SDP", 0)) == [
        "done event of SDP, the answers to its writes or GLB: every unit is idle, and the interrupt never came"
    ]
    assert hang(CONV, "CDMA", unmatched=(Unmatched(Ram.MC, 1, 0),)) == [
        "write side of the memory interface or the unit that writes: it sent 1 addresses without data"
    ]


def test_a_layer_that_is_complete_lacks_its_interrupt_alone() -> None:
    busy = (UnitState("PDP", ("RUNNING", "PENDING")),)
    lost = hang(LayerId(9, "SDP", 1), units=busy, waiting_for=("PDP_0", "SDP_1"))
    assert lost == [
        "done event of SDP, the answers to its writes or GLB: "
        "layer 9 (SDP, group 1) has written all its bytes, its units are idle, and its interrupt never came"
    ]
    detail = Hang(5000, ("SDP_1",), None, (LayerId(9, "SDP", 1),), (), (), busy)
    owing = told(Finding(Check.HANG, detail, 50), wrong_of(LayerId(9, "SDP", 1), Check.MISSING))
    assert owing[0].startswith("PDP, what feeds it or write side ")


def test_a_unit_that_reads_on_without_an_end_is_named_before_what_it_overwrites() -> None:
    layer = LayerId(2, "CDP", 0)
    units = tuple(UnitState(unit, ("RUNNING", "IDLE")) for unit in ("CDP_RDMA", "CDP"))
    detail = Hang(5000, ("CDP_0",), None, (layer,), (), (), units, in_vain=4000)
    reads = [
        BadAccess(Ram.MC, True, 8, at, 3, at, True, f"{at - 0x100:#x} past the end of src") for at in (0x100, 0x108)
    ]
    found = [wrong_of(layer, Check.DOUBLE), *(Finding(Check.MEMORY, read, 5) for read in reads)]
    first, *others = told(*found, Finding(Check.HANG, detail, 50))
    assert first == "CDP_RDMA: it keeps reading beyond its data (0x0 past the end of src) and does not stop"
    assert not any("kinds of findings" in line for line in others)
    ends = msgspec.structs.replace(detail, in_vain=0)
    assert not any("does not stop" in line for line in told(*found, Finding(Check.HANG, ends, 50)))


def patterned(chosen: np.ndarray) -> list[str]:
    """Return what is said of a convolution whose chosen elements, (C, H, W), hold noise."""

    def change(cube: np.ndarray) -> np.ndarray:
        full = np.zeros(cube.shape, dtype=bool)
        full[: len(chosen)] = chosen
        return np.where(full, np.random.default_rng(7).integers(-128, 128, cube.shape), cube)

    return explained(cases.recast(cases.conv_layer(), MEMORY, change), CONV)


def explained(evidence: Evidence, layer: LayerId) -> list[str]:
    """Return what is said of a layer whose wrong bytes are explained."""
    return [str(suspect) for suspect in suspects(Verdict(findings=[wrong_of(layer)]), [explain(evidence)])]


@pytest.mark.slow
def test_the_pattern_of_wrong_elements_narrows_a_convolution_down() -> None:
    shape = cases.conv_layer().dst.layout.shape
    pixels, kernels, single = (np.zeros(shape, dtype=bool) for _ in range(3))
    pixels[:, 1, 1:4] = True
    kernels[3:6] = True
    single[np.random.default_rng(1).random(shape) < 0.02] = True
    [weights] = patterned(kernels)
    assert weights.startswith("rather CDMA (weights), CBUF, CSC, CMAC, CACC or SDP: 3 of 19 channels are wrong")
    [arithmetic] = patterned(single)
    assert arithmetic.startswith("rather arithmetic of CMAC, CACC, SDP_RDMA or SDP: ")
    [any_unit] = patterned(pixels)
    assert any_unit == "CDMA, CBUF, CSC, CMAC, CACC or SDP: layers of CONV are wrong", "accumulators leave them so, too"


@pytest.mark.slow
def test_no_pattern_of_pooling_tells_its_reader_from_its_line_buffers() -> None:
    def first_line(cube: np.ndarray) -> np.ndarray:
        cube[:, 0] ^= np.random.default_rng(7).integers(1, 128, cube[:, 0].shape).astype(cube.dtype)
        return cube

    evidence = cases.recast(cases.pdp_layer(), MEMORY, first_line)
    assert explained(evidence, LayerId(0, "PDP", 0)) == ["PDP_RDMA or PDP: layers of PDP are wrong"]


def test_what_comes_after_the_done_event_may_be_another_groups_event() -> None:
    assert told(wrong_of(LayerId(3, "PDP", 1), Check.LATE)) == [
        "PDP_RDMA, PDP, its done event or GLB: done before its data"
    ]


def test_a_probable_cause_names_the_unit_that_it_is_about() -> None:
    evidence = cases.evidence_of(cases.sdp_layer(), MEMORY, lambda patch: replace(patch, address=patch.address + 64))
    said = explained(evidence, LayerId(0, "SDP", 0))
    assert said == ["SDP, its writes or memory interface: the probable cause lies in its work"]


def test_a_hang_says_more_than_the_engine_of_wrong_bytes() -> None:
    waits = Hang(5000, ("PDP_0",), None, (LayerId(3, "PDP", 0),), (), (), (UnitState("PDP", ("RUNNING", "IDLE")),))
    assert told(wrong_of(LayerId(2, "PDP", 0)), Finding(Check.HANG, waits, 9000)) == [
        "PDP, what feeds it or write side of the memory interface: "
        "the first unit that is not done; PDP_RDMA before it is idle"
    ]


def test_the_unit_that_all_findings_have_in_common_comes_first() -> None:
    lost = Finding(Check.INTERRUPT, MissingInterrupt("CDMA_DAT_0"), 50)
    more = Finding(Check.INTERRUPT, UnexpectedInterrupt("PDP_1"), 60)
    found = told(lost, more)
    assert found[0] == "GLB: each of 2 kinds of findings points at it"
    assert len(found) == 3
    # One kind of finding leaves its units as they are, and so do findings without anything in common.
    assert told(lost)[0].startswith("done event of CDMA_DAT or GLB: ")
    alone = told(lost, Finding(Check.PROTOCOL, WrongOutstanding(Ram.MC, True, 4, 5), 70))
    assert not any("kinds of findings" in line for line in alone)


def test_a_unit_that_is_cleared_is_not_what_all_findings_have_in_common() -> None:
    both = [Finding(Check.INTERRUPT, MissingInterrupt(name), 50) for name in ("SDP_0", "PDP_0")]
    first, *_ = suspects(Verdict(findings=both), (), [Unit.MEMORY])
    assert str(first) == "GLB: each of 2 kinds of findings points at it"
    assert told(*both)[0] == "GLB or memory interface: each of 2 kinds of findings points at it"
