"""Expected ports, the user's port map, and the comparison of both with real RTL."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.run.compile.ports import Port, PortMap, check, expected_ports, load_port_map
from tb.run.errors import PortError

SMALL = HwConfig.load("nv_small")
PORTS = expected_ports(SMALL)


def changed(name: str, /, **changes: str | int) -> list[Port]:
    return [replace(port, **changes) if port.name == name else port for port in PORTS]


def refused(actual: list[Port], port_map: PortMap, *differences: str) -> None:
    count = "1 place" if len(differences) == 1 else f"{len(differences)} places"
    message = "\n  ".join((f"ports of NV_nvdla differ from nv_small in {count}:", *differences))
    with pytest.raises(PortError, match=f"^{re.escape(message)}$"):
        check(SMALL, "NV_nvdla", actual, port_map)


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


def test_the_second_memory_port_has_the_width_of_the_second_interface() -> None:
    ports = {port.name: port.width for port in expected_ports(HwConfig.load("nv_full"))}

    assert ports["nvdla_core2cvsram_w_wdata"] == 512
    assert ports["nvdla_core2cvsram_aw_awaddr"] == 64


def test_equal_ports_pass_in_any_order_and_no_fewer() -> None:
    turned = list(reversed(PORTS))
    check(SMALL, "NV_nvdla", turned, PortMap())
    refused(turned[1:], PortMap(), f"missing {turned[0].direction} {turned[0].name}, 1 bit")


def test_every_difference_is_listed_at_once() -> None:
    actual = [port for port in PORTS if port.name != "dla_intr"] + [Port("scan_en", "input", 2)]
    actual = [replace(p, width=32) if p.name == "csb2nvdla_addr" else p for p in actual]
    actual = [replace(p, direction="output") if p.name == "test_mode" else p for p in actual]

    refused(
        actual,
        PortMap(),
        "test_mode must be input, not output",
        "missing output dla_intr, 1 bit",
        "csb2nvdla_addr must have 16 bits, not 32",
        "extra input scan_en, 2 bits: give it a value under [tie]",
    )


def test_a_renamed_port_is_found_and_its_difference_names_both() -> None:
    actual = changed("csb2nvdla_addr", name="addr", width=8)

    refused(actual, PortMap({"csb2nvdla_addr": "addr"}), "csb2nvdla_addr (as addr) must have 16 bits, not 8")


def test_extra_ports_pass_when_tied_or_open() -> None:
    actual = [*PORTS, Port("scan_en", "input", 1), Port("debug_bus", "output", 8)]

    check(SMALL, "NV_nvdla", actual, PortMap(ties={"scan_en": 1}, open=("debug_bus",)))
    refused(actual, PortMap(ties={"scan_en": 1}), "extra output debug_bus, 8 bits: list it under open")
    refused(actual, PortMap(open=("debug_bus",)), "extra input scan_en, 1 bit: give it a value under [tie]")


def test_an_extra_output_must_be_listed() -> None:
    refused([*PORTS, Port("debug_bus", "output", 8)], PortMap(), "extra output debug_bus, 8 bits: list it under open")


def test_an_inout_cannot_be_connected() -> None:
    refused([*PORTS, Port("pad", "inout", 1)], PortMap(), "extra inout pad, 1 bit: an inout cannot be connected")


def test_an_absent_input_is_not_missed() -> None:
    actual = [p for p in PORTS if p.name != "test_mode"]
    check(SMALL, "NV_nvdla", actual, PortMap(absent=("test_mode",)))
    refused(actual, PortMap(), "missing input test_mode, 1 bit")


def test_an_input_called_absent_but_present_is_extra() -> None:
    refused(list(PORTS), PortMap(absent=("test_mode",)), "extra input test_mode, 1 bit: give it a value under [tie]")


def test_a_tie_must_fit_and_be_an_input() -> None:
    actual = [*PORTS, Port("scan_en", "input", 2), Port("debug_bus", "output", 8)]

    refused(
        actual,
        PortMap(ties={"scan_en": 4, "debug_bus": 0}),
        "tie of scan_en must fit 2 bits, not 4",
        "tied port debug_bus is not an input of the RTL",
    )


def test_an_open_port_must_be_an_output() -> None:
    refused(list(PORTS), PortMap(open=("gone",)), "open port gone is not an output of NV_nvdla")


def test_a_whole_port_map_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ports.toml"
    path.write_text(
        'open = ["debug"]\nabsent = ["test_mode"]\n[ports]\ndla_intr = "irq"\n[tie]\nscan_en = 1\n', encoding="utf-8"
    )

    assert load_port_map(path, SMALL) == PortMap({"dla_intr": "irq"}, {"scan_en": 1}, ("debug",), ("test_mode",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("port = 1", "unknown key port; allowed: ports, tie, drive, open, absent, interrupts, csb, dbb"),
        ("ports = 1", "ports must be a table, not 1"),
        ("open = 1", "open must be a list of names, not 1"),
        ("open = [1]", "open must be a list of names, not 1"),
        ('[ports]\nirq = "x"', "irq is not a port of nv_small"),
        ('absent = ["irq"]', "irq is not a port of nv_small"),
        ('absent = ["dla_intr"]', "absent may list inputs only, not the output dla_intr"),
        ('absent = ["test_mode"]\n[ports]\ntest_mode = "x"', "test_mode is both absent and renamed"),
        ("[tie]\nx = -1", "tie of x must be a non-negative integer, not -1"),
        ("[tie]\nx = true", "tie of x must be a non-negative integer, not True"),
        ("[ports]\ndla_intr = 3", "port dla_intr needs a Verilog identifier, not 3"),
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
