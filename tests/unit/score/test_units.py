"""The unit of a mutated module, and the worth of the units that the text of a failure names."""

from __future__ import annotations

import pytest

from nvdla_score.journal import Catch
from nvdla_score.units import Naming, naming, unit_of
from nvdla_tb.explain.units import Unit
from nvdla_tb.judge.finding import Check

PARENTS = {
    "fifo": frozenset({"NV_NVDLA_SDP_mrdma", "NV_NVDLA_PDP_rdma"}),
    "cell": frozenset({"block"}),
    "block": frozenset({"NV_NVDLA_CMAC_CORE_mac", "NV_NVDLA_cmac"}),
    "NV_NVDLA_cmac": frozenset({"NV_NVDLA_partition_m"}),
    "below_the_top": frozenset({"NV_NVDLA_partition_m"}),
    "both": frozenset({"NV_NVDLA_cmac", "NV_NVDLA_partition_m"}),
}


@pytest.mark.parametrize(
    ("module", "unit"),
    [
        ("NV_NVDLA_CDMA_WT_fifo", Unit.CDMA),
        ("NV_NVDLA_cbuf", Unit.CBUF),
        ("NV_NVDLA_SDP_RDMA_reg", Unit.SDP_RDMA),
        ("NV_NVDLA_SDP_mrdma", Unit.SDP_RDMA),
        ("NV_NVDLA_SDP_BRDMA_cq_lib", Unit.SDP_RDMA),
        ("NV_NVDLA_SDP_WDMA_cmd", Unit.SDP),
        ("NV_NVDLA_PDP_SDPIN_ro_fifo", Unit.PDP),
        ("NV_NVDLA_PDP_RDMA_eg", Unit.PDP_RDMA),
        ("HLS_cdp_icvt", Unit.CDP),
        ("NV_NVDLA_CSB_MASTER_csb2falcon_fifo", Unit.CSB),
        ("NV_NVDLA_GLB_csb", Unit.GLB),
        ("NV_NVDLA_MCIF_CSB_reg", Unit.MEMORY),
        ("nvdla_sdp_operand", Unit.SDP_RDMA),
        ("nvdla_cacc_arithmetic", Unit.CACC),
        ("cell", Unit.CMAC),
        ("fifo", None),
        ("below_the_top", None),
        ("both", None),
        ("NV_nvdla", None),
    ],
)
def test_a_module_is_of_the_unit_that_it_is_called_after_or_that_alone_instantiates_it(
    module: str, unit: Unit | None
) -> None:
    assert unit_of(module, PARENTS) is unit


def caught(*lines: tuple[str, ...]) -> Catch:
    return Catch("conv_a.1", 2, (Check.VALUE,), 99, None, "3 wrong bytes", units=lines)


@pytest.mark.parametrize(
    ("unit", "lines", "worth"),
    [
        (Unit.CSC, [("CSC",)], Naming.RIGHT),
        (Unit.CSC, [("CBUF", "CSC")], Naming.RIGHT),
        (Unit.CSC, [("CSC",), ("CSC", "CMAC")], Naming.RIGHT),
        (Unit.CSC, [("CSC",), ("CBUF", "CMAC")], Naming.WIDE),
        (Unit.CSC, [("CSC", "CACC")], Naming.RIGHT),
        (Unit.CSC, [("CSC", "SDP")], Naming.WIDE),
        (Unit.CSC, [("CDMA", "CBUF", "CSC")], Naming.WIDE),
        (Unit.CSC, [("CMAC",), ("CACC",)], Naming.WRONG),
        (Unit.CSC, [()], Naming.NONE),
        (Unit.CSC, [], Naming.NONE),
        (None, [("CSC",)], Naming.SHARED),
    ],
)
def test_the_named_units_are_right_when_they_are_one_place_that_has_the_mutant(
    unit: Unit | None, lines: list[tuple[str, ...]], worth: Naming
) -> None:
    assert naming(unit, caught(*lines)) is worth
