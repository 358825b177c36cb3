"""Units: their names, their neighbours, and those that data of a layer pass."""

from __future__ import annotations

import pytest

from nvdla_tb.explain.units import (
    MEMORY_INTERFACE,
    Part,
    Suspect,
    Unit,
    are_neighbours,
    following,
    parts,
    parts_of,
    shared,
    units_named,
)


def test_halves_parts_and_register_blocks_are_of_one_unit() -> None:
    assert units_named("CMAC_A", "CMAC_B", "CDMA (weights)", "CDMA_WT", "RBK") == (Unit.CMAC, Unit.CDMA, Unit.RUBIK)


def test_a_name_that_no_unit_has_is_left_out() -> None:
    assert units_named("its own") == ()


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("CONV", "CDMA, CBUF, CSC, CMAC, CACC or SDP"),
        ("CONV-PDP", "CDMA, CBUF, CSC, CMAC, CACC, SDP or PDP"),
        ("BDMA", "BDMA"),
    ],
)
def test_units_of_an_engine_are_listed_in_the_order_of_its_data(engine: str, words: str) -> None:
    assert Suspect(parts_of(engine), "why").words == words


@pytest.mark.parametrize(
    ("one", "other", "connected"),
    [
        (Unit.CBUF, Unit.CSC, True),
        (Unit.CSC, Unit.CBUF, True),
        (Unit.CDMA, Unit.CSC, True),
        (Unit.CACC, Unit.CSC, True),
        (Unit.CDMA, Unit.CMAC, False),
        (Unit.SDP_RDMA, Unit.SDP, True),
        (Unit.SDP_RDMA, Unit.PDP, False),
        (Unit.PDP, Unit.MEMORY, True),
        (Unit.CACC, Unit.MEMORY, False),
        (Unit.CACC, Unit.CSB, True),
        (Unit.CBUF, Unit.GLB, False),
        (Unit.CACC, Unit.CACC, True),
        (Unit.MEMORY, Unit.MEMORY, True),
        (Unit.CBUF, Unit.CBUF, True),
    ],
)
def test_units_that_are_connected_are_neighbours(one: Unit, other: Unit, connected: bool) -> None:
    assert are_neighbours(one, other) is connected


def test_units_after_one_are_those_that_the_layer_passes() -> None:
    assert following("CACC", "CONV", "why") == Suspect(parts(("SDP_RDMA", "SDP")), "why")
    assert following("SDP", "CONV", "why") == Suspect((MEMORY_INTERFACE,), "why")


def test_a_part_that_is_cleared_goes_unless_it_is_the_only_one() -> None:
    both = Suspect((*parts(["SDP"]), Part("answers to its writes", (Unit.MEMORY,))), "why")
    assert str(both) == "SDP or answers to its writes: why"
    assert str(both.without(Unit.MEMORY)) == "SDP: why"
    alone = Suspect((MEMORY_INTERFACE,), "why")
    assert alone.without(Unit.MEMORY) == alone
    vague = Suspect((*parts(["SDP"]), Part("what takes its data", ())), "why")
    assert vague.without(Unit.MEMORY) == vague


def test_right_data_do_not_clear_a_register_file() -> None:
    registers = Suspect((Part("register file of MCIF", (Unit.MEMORY,)), Part("CSB master", (Unit.CSB,))), "why")
    assert registers.without(Unit.MEMORY) == registers


def test_layers_of_several_engines_point_at_what_all_of_them_pass() -> None:
    both, apart = shared(["CONV", "SDP"]), shared(["PDP", "CDP"])
    assert str(both) == "SDP_RDMA or SDP: layers of CONV, SDP are wrong, and pass it"
    assert both is not None
    assert both.named == (Unit.SDP_RDMA, Unit.SDP)
    assert str(apart) == "rather what all units share, as the memory interface: layers of PDP, CDP are wrong"
    assert apart is not None
    assert apart.named == (Unit.MEMORY,)
    assert str(shared(["CONV", "CONV-PDP"])) == (
        "CDMA, CBUF, CSC, CMAC_A, CMAC_B, CACC, SDP_RDMA or SDP: layers of CONV, CONV-PDP are wrong, and pass it"
    )
    assert shared(["CONV"]) is None
    assert shared(["conv_module", "fc_module"]) is None, "layers of the second system pass none of these units"
