"""Expected ports, the user's port map, and the comparison of both with real RTL."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile.ports import Port, PortMap, check, expected_ports, load_port_map
from nvdla_tb.run.errors import PortError

SMALL = HwConfig.load("nv_small")
PORTS = expected_ports(SMALL)


def changed(name: str, /, **changes: str | int) -> list[Port]:
    return [replace(port, **changes) if port.name == name else port for port in PORTS]


def map_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "ports.toml"
    path.write_text(text)
    with pytest.raises(PortError, match=f"^{re.escape(f'{path}: {message}')}$"):
        load_port_map(path, SMALL)


@pytest.mark.parametrize(
    ("name", "count", "address", "data"),
    [("nv_small", 46, 32, 64), ("nv_small_256", 46, 32, 64), ("nv_large", 69, 64, 256), ("nv_full", 69, 64, 512)],
)
def test_port_widths_follow_the_configuration(name: str, count: int, address: int, data: int) -> None:
    ports = {port.name: port for port in expected_ports(HwConfig.load(name))}

    assert len(ports) == count
    assert ports["nvdla_core2dbb_ar_araddr"] == Port("nvdla_core2dbb_ar_araddr", "output", address)
    assert ports["nvdla_core2dbb_r_rdata"] == Port("nvdla_core2dbb_r_rdata", "input", data)
    assert ports["nvdla_core2dbb_w_wstrb"].width == data // 8
    second = [port.width for name, port in ports.items() if name.startswith("nvdla_core2cvsram_w_wdata")]
    assert second == ([data] if count == 69 else [])


SCAN, DEBUG, PAD = Port("scan_en", "input", 2), Port("debug_bus", "output", 8), Port("pad", "inout", 1)
EXTRA_INPUT = "extra input scan_en, 2 bits: give it a value under [tie]"
EXTRA_OUTPUT = "extra output debug_bus, 8 bits: list it under open"


def without(name: str) -> list[Port]:
    return [port for port in PORTS if port.name != name]


def test_equal_ports_pass_in_any_order_as_do_those_that_the_map_knows() -> None:
    check(SMALL, "NV_nvdla", list(reversed(PORTS)), PortMap())
    check(SMALL, "NV_nvdla", [*PORTS, SCAN, DEBUG], PortMap(ties={"scan_en": 1}, open=("debug_bus",)))
    check(SMALL, "NV_nvdla", without("test_mode"), PortMap(absent=("test_mode",)))


@pytest.mark.parametrize(
    ("actual", "port_map", "differences"),
    [
        (without("dla_intr"), PortMap(), ["missing output dla_intr, 1 bit"]),
        (without("test_mode"), PortMap(), ["missing input test_mode, 1 bit"]),
        (
            [
                *(port for port in changed("csb2nvdla_addr", width=32) if port.name not in ("dla_intr", "test_mode")),
                Port("test_mode", "output", 1),
                SCAN,
            ],
            PortMap(),
            [
                "test_mode must be input, not output",
                "missing output dla_intr, 1 bit",
                "csb2nvdla_addr must have 16 bits, not 32",
                EXTRA_INPUT,
            ],
        ),
        (
            changed("csb2nvdla_addr", name="addr", width=8),
            PortMap({"csb2nvdla_addr": "addr"}),
            ["csb2nvdla_addr (as addr) must have 16 bits, not 8"],
        ),
        ([*PORTS, SCAN, DEBUG], PortMap(ties={"scan_en": 1}), [EXTRA_OUTPUT]),
        ([*PORTS, SCAN, DEBUG], PortMap(open=("debug_bus",)), [EXTRA_INPUT]),
        ([*PORTS, PAD], PortMap(), ["extra inout pad, 1 bit: an inout cannot be connected"]),
        (
            list(PORTS),
            PortMap(absent=("test_mode",)),
            ["extra input test_mode, 1 bit: give it a value under [tie]"],
        ),
        (
            [*PORTS, SCAN, DEBUG],
            PortMap(ties={"scan_en": 4, "debug_bus": 0}),
            ["tie of scan_en must fit 2 bits, not 4", "tied port debug_bus is not an input of the RTL"],
        ),
        (list(PORTS), PortMap(open=("gone",)), ["open port gone is not an output of NV_nvdla"]),
    ],
)
def test_every_difference_is_listed_at_once(actual: list[Port], port_map: PortMap, differences: list[str]) -> None:
    count = "1 place" if len(differences) == 1 else f"{len(differences)} places"
    message = "\n  ".join((f"ports of NV_nvdla differ from nv_small in {count}:", *differences))
    with pytest.raises(PortError, match=f"^{re.escape(message)}$"):
        check(SMALL, "NV_nvdla", actual, port_map)


def test_a_whole_port_map_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ports.toml"
    path.write_text(
        'open = ["debug"]\nabsent = ["test_mode"]\n[ports]\ndla_intr = "irq"\n[tie]\nscan_en = 1\n', encoding="utf-8"
    )

    assert load_port_map(path, SMALL) == PortMap({"dla_intr": "irq"}, {"scan_en": 1}, ("debug",), ("test_mode",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("port = 1", "port is unknown; allowed: ports, tie, drive, open, absent, interrupts, csb, dbb, cvsram"),
        ('[ports]\nirq = "x"', "irq is not a port of nv_small"),
        ('absent = ["irq"]', "irq is not a port of nv_small"),
        ('absent = ["dla_intr"]', "absent may list inputs only, not the output dla_intr"),
        ('absent = ["test_mode"]\n[ports]\ntest_mode = "x"', "test_mode is both absent and renamed"),
        ("[tie]\nx = -1", "tie.x must be an integer of at least 0, not -1"),
        ('[ports]\ndla_intr = "a b"', "port dla_intr needs a Verilog identifier, not 'a b'"),
        (
            '[ports]\ndla_intr = "test_mode"',
            "test_mode is used twice, as port test_mode and as port dla_intr",
        ),
        ("[tie]\ntest_mode = 0", "test_mode is used twice, as port test_mode and as tie"),
        ('open = ["x", "x"]', "x is used twice, as open and as open"),
    ],
)
def test_a_wrong_port_map_is_refused(tmp_path: Path, text: str, message: str) -> None:
    map_refused(tmp_path, text, message)


def test_a_missing_port_map_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    with pytest.raises(PortError, match=f"^{re.escape(f'{path}: cannot be read: No such file or directory')}$"):
        load_port_map(path, SMALL)


def test_a_malformed_port_map_names_the_place(tmp_path: Path) -> None:
    map_refused(tmp_path, "[ports", "Expected ']' at the end of a table declaration (at end of document)")
