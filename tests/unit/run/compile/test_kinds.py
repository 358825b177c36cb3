"""Ports of a wrapped NVDLA: what a port map says of them, what the RTL must have, and the wrapper that is made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.elaborate import elaborate
from nvdla_tb.run.compile.filelist import parse
from nvdla_tb.run.compile.kinds import WrappedPort, pins_of
from nvdla_tb.run.compile.ports import Port, PortMap, check, expected_ports, load_port_map
from nvdla_tb.run.compile.wrapper import wrapper_text
from nvdla_tb.run.errors import PortError

pytestmark = pytest.mark.slow

SMALL, FULL = HwConfig.load("nv_small"), HwConfig.load("nv_full")
APB_PINS = [
    *(Port(name, "input", 1) for name in ("psel", "penable", "pwrite")),
    *(Port("paddr", "input", 32), Port("pwdata", "input", 32), Port("prdata", "output", 32)),
]
APB = PortMap(wrapped={"csb": WrappedPort("apb")})
AXI4 = PortMap(wrapped={"dbb": WrappedPort("axi4", "m_{pin}")})
BARE_CSB = [port for port in expected_ports(SMALL) if not port.name.startswith(("csb2nvdla_", "nvdla2csb_"))]
BARE_DBB = [port for port in expected_ports(SMALL) if not port.name.startswith("nvdla_core2dbb_")]


def axi4_pins(**changes: int | None) -> list[Port]:
    """Return the pins that an AXI4 port needs, with ids; ``changes`` are other widths, None for a missing pin."""
    widths = {"awid": 8, "arid": 8, "bid": 8, "rid": 8, "wstrb": 8, "wdata": 64, "rdata": 64} | changes
    ports = []
    for pin in pins_of("axi4", 64):
        width = widths.get(pin.name, pin.widths[0] if pin.needed else None)
        if width is not None:
            ports.append(Port(f"m_{pin.name}", pin.direction, width))
    return ports


def differing(actual: list[Port], port_map: PortMap) -> list[str]:
    """Return the differences that are refused."""
    try:
        check(SMALL, "top", actual, port_map)
    except PortError as error:
        return [line.strip() for line in str(error).split("\n")[1:]]
    return []


def read(tmp_path: Path, text: str, config: HwConfig = SMALL) -> PortMap:
    path = tmp_path / "ports.toml"
    path.write_text(text, encoding="utf-8")
    return load_port_map(path, config)


def test_a_map_of_wrapped_ports_is_read(tmp_path: Path) -> None:
    port_map = read(
        tmp_path,
        'absent = ["dla_csb_clk"]\ninterrupts = ["irq0", "irq1"]\n[drive]\nrst = "!dla_reset_rstn"\n'
        '[csb]\nkind = "axi-lite"\npins = "S_{PIN}"\nbase = 0x1000\n[csb.names]\nrresp = "status"\n'
        '[dbb]\nkind = "axi4"\npins = "m_{channel}_{pin}"\n[cvsram]\nkind = "dbb"\n',
        FULL,
    )
    assert port_map.has_one_clock
    assert port_map.interrupts == ("irq0", "irq1")
    assert port_map.drives == {"rst": "!dla_reset_rstn"}
    assert list(port_map.wrapped) == ["csb", "dbb"]
    registers, memory = port_map.wrapped["csb"], port_map.wrapped["dbb"]
    assert (registers.actual("awvalid"), registers.actual("rresp"), registers.base) == ("S_AWVALID", "status", 0x1000)
    assert [memory.actual(pin) for pin in ("awvalid", "wdata", "bid", "rlast")] == [
        *("m_aw_awvalid", "m_w_wdata", "m_b_bid", "m_r_rlast"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[csb]\nkind = "axi4"', "csb.kind must be one of csb, apb, axi-lite, not axi4"),
        ("[dbb]", "dbb.kind must be one of dbb, axi4, not None"),
        (
            '[cvsram]\nkind = "axi4"',
            "cvsram must be left out: nv_small has no secondary memory interface",
        ),
        ('[csb]\nkind = "csb"\npins = "x"', "csb.pins is unknown; allowed: kind"),
        ('[dbb]\nkind = "axi4"\nbase = 0', "dbb.base is unknown; allowed: kind, pins, names"),
        ('[csb]\nkind = "apb"\nbase = 2', "csb.base must be a multiple of 4 in 64 bits, not 2"),
        (
            '[csb]\nkind = "apb"\n[csb.names]\nwvalid = "x"',
            "csb.names.wvalid is not a pin of apb; there are psel, penable, pwrite, paddr, pwdata, pstrb, pprot, "
            "prdata, pready, pslverr",
        ),
        ('[csb]\nkind = "apb"\npins = "{Pin}"', "psel of csb needs a Verilog identifier, not '{Pin}'"),
        ('[csb]\nkind = "apb"\npins = "x"', "x is used twice, as psel of csb and as penable of csb"),
        (
            '[csb]\nkind = "axi-lite"\n[dbb]\nkind = "axi4"',
            "awready is used twice, as awready of csb and as awready of dbb",
        ),
        (
            '[ports]\ncsb2nvdla_addr = "x"\n[csb]\nkind = "apb"',
            "csb2nvdla_addr is a pin of a bare port, and the map says that it is of another kind",
        ),
        (
            '[drive]\nrst = "dla_intr"',
            "drive.rst must be one of !dla_reset_rstn, dla_core_clk, dla_csb_clk, dla_reset_rstn, not dla_intr",
        ),
        ('[drive]\ntest_mode = "dla_core_clk"', "test_mode is used twice, as port test_mode and as drive"),
        ('interrupts = ["a"]\n[ports]\ndla_intr = "b"', "dla_intr is both renamed and given as interrupts"),
        ('interrupts = ["a", "a"]', "a is used twice, as interrupt and as interrupt"),
    ],
)
def test_a_wrong_map_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PortError, match=f"^{re.escape(str(tmp_path / 'ports.toml') + ': ' + message)}$"):
        read(tmp_path, text)


def test_pins_that_a_wrapper_may_leave_out_are_not_missed() -> None:
    assert differing([*BARE_CSB, *APB_PINS], APB) == []
    assert differing([*BARE_CSB, *APB_PINS[1:]], APB) == ["missing input psel, 1 bit"]


def test_a_pin_that_the_map_names_must_be_there() -> None:
    named = PortMap(wrapped={"csb": WrappedPort("apb", names={"pslverr": "error"})})
    assert differing([*BARE_CSB, *APB_PINS], named) == ["missing output pslverr (as error), 1 bit"]


def test_a_pin_that_nobody_expects_is_extra() -> None:
    extra = [*BARE_CSB, *APB_PINS, Port("pslverror", "output", 1)]
    assert differing(extra, APB) == ["extra output pslverror, 1 bit: list it under open"]


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({}, []),
        ({"wdata": 128, "rdata": 128, "wstrb": 16}, []),
        (dict.fromkeys(("awid", "arid", "bid", "rid")), []),
        (dict.fromkeys(("awid", "arid", "bid", "rid"), 16), []),
        ({"wdata": 32}, ["wdata (as m_wdata) must have 64, 128, 256 or 512 bits, not 32", "m_rdata", "m_wstrb"]),
        ({"awlen": 5}, ["awlen (as m_awlen) must have 4 or 8 bits, not 5", "m_arlen must be as wide as m_awlen"]),
        (
            {"awaddr": 24},
            ["awaddr (as m_awaddr) must have 32 to 64 bits, not 24", "m_araddr must be as wide as m_awaddr"],
        ),
        ({"rid": None}, ["m_rid must be as wide as m_arid"]),
        ({"bid": 4}, ["m_bid must be as wide as m_awid"]),
        ({"wstrb": 16}, ["m_wstrb must have a bit for each byte of m_wdata"]),
    ],
)
def test_widths_of_axi4(changes: dict[str, int | None], problems: list[str]) -> None:
    found = differing([*BARE_DBB, *axi4_pins(**changes)], AXI4)
    assert len(found) == len(problems)
    assert all(line.startswith(problem) for line, problem in zip(sorted(found), sorted(problems), strict=True)), found


def test_a_driven_input_and_each_interrupt_must_be_there() -> None:
    port_map = PortMap(drives={"rst": "!dla_reset_rstn"}, interrupts=("irq0", "irq1"))
    ports = [port for port in expected_ports(SMALL) if port.name != "dla_intr"]
    assert differing([*ports, Port("irq0", "output", 2)], port_map) == [
        "missing input rst, 1 bit",
        "irq0 must have 1 bit, not 2",
        "missing output irq1, 1 bit",
    ]
    whole = [*ports, Port("rst", "input", 1), Port("irq0", "output", 1), Port("irq1", "output", 1)]
    assert differing(whole, port_map) == []
    text = wrapper_text(SMALL, "top", whole, port_map, dump=False)
    assert "assign dla_intr = interrupt_irq0 | interrupt_irq1;" in text
    assert ".rst(~dla_reset_rstn)" in text


def test_both_memory_ports_may_be_wrapped(tmp_path: Path) -> None:
    wrapped = {"dbb": WrappedPort("axi4", "m_{pin}"), "cvsram": WrappedPort("axi4", "n_{pin}")}
    bare = [port for port in expected_ports(FULL) if not port.name.startswith("nvdla_core2")]
    pins = axi4_pins(awaddr=64, araddr=64, wdata=512, rdata=512, wstrb=64, awlen=8, arlen=8)
    ports = [*bare, *pins, *(Port(port.name.replace("m_", "n_"), port.direction, port.width) for port in pins)]
    port_map = PortMap(wrapped=wrapped)
    check(FULL, "top", ports, port_map)
    text = wrapper_text(FULL, "top", ports, port_map, dump=False, native=True)
    assert "output wire [11:0] broken_mc" in text
    assert "output wire [11:0] broken_cvsram" in text
    assert ".n_wdata(nvdla_core2cvsram_w_wdata)" in text


@pytest.mark.parametrize("name", ["apb_axi4", "axi_lite_axi4"])
def test_the_embedded_wrappers_have_the_ports_of_their_maps(tmp_path: Path, name: str) -> None:
    ports = elaborate(parse(HDL / "wrapped" / f"{name}.f"), f"nvdla_{name}", tmp_path / "log")[0]
    check(SMALL, f"nvdla_{name}", ports, load_port_map(HDL / "wrapped" / f"{name}.toml", SMALL))
