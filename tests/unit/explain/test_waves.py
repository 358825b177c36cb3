"""Save files name signals that exist, and open at the first wrong write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_models.config import HwConfig
from nvdla_tb.explain.waves import gtkwave_text, surfer_text, write_save_files
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.ports import expected_ports
from nvdla_tb.stimulus.explained import WavesView

SCOPE = HDL / "scope"


def view(config: HwConfig, ram: Ram) -> WavesView:
    nbytes = config.primary_memif_width_bytes if ram is Ram.MC else config.secondary_memif_width_bytes
    return WavesView(ram, 8 * nbytes, config.memif_address_width_bits, 535_000, 599_000)


WAVES = "waves.fst"


def declared(config: HwConfig, data_bits: int) -> set[str]:
    """Return the signals of the wrapper and its scope as wave files name them."""
    names = {
        f"tb_top.{port.name}" + (f"[{port.width - 1}:0]" if port.width > 1 else "") for port in expected_ports(config)
    }
    for file, scopes in (("layer", ("bench_layer",)), ("port", ("bench_mc", "bench_cvsram"))):
        text = (SCOPE / f"nvdla_bench_{file}.sv").read_text(encoding="utf-8").replace("DATA_BITS-1", str(data_bits - 1))
        for size, name in re.findall(r"^ *reg +(?:\[ *(\d+): *0\])? *(\w+) +/\*", text, re.MULTILINE):
            names |= {f"tb_top.{scope}.{name}" + (f"[{size}:0]" if size else "") for scope in scopes}
    return names


CASES = [
    pytest.param("nv_small", Ram.MC, id="nv_small"),
    pytest.param("nv_full", Ram.MC, id="nv_full"),
    pytest.param("nv_full", Ram.CVSRAM, id="CVSRAM"),
]


@pytest.mark.parametrize(("name", "ram"), CASES)
def test_every_signal_of_the_save_files_exists(name: str, ram: Ram) -> None:
    config = HwConfig.load(name)
    shown = view(config, ram)
    existing = declared(config, shown.data_bits)
    in_gtkwave = [line for line in gtkwave_text(WAVES, shown).splitlines() if line.startswith("tb_top.")]
    in_surfer = re.findall(r"^variable_add (\S+)$", surfer_text(WAVES, shown), re.MULTILINE)
    assert len(in_gtkwave) > 20
    assert set(in_gtkwave) <= existing
    assert in_surfer == [signal.partition("[")[0] for signal in in_gtkwave]
    port = "nvdla_core2dbb_w_wdata" if ram is Ram.MC else "nvdla_core2cvsram_w_wdata"
    assert f"tb_top.{port}[{shown.data_bits - 1}:0]" in in_gtkwave


def test_both_open_at_the_first_wrong_write_and_mark_the_last(tmp_path: Path) -> None:
    (tmp_path / WAVES).touch()
    write_save_files(tmp_path, view(HwConfig.load("nv_small"), Ram.MC))
    text = (tmp_path / "waves.gtkw").read_text(encoding="utf-8")
    assert re.search(r"^\*\S+ 535000 535000 599000( -1){24}$", text, re.MULTILINE)
    assert '[dumpfile] "waves.fst"' in text
    assert 0 < int(re.findall(r"\[timestart\] (\d+)", text)[0]) < 535_000
    commands = (tmp_path / "waves.sucl").read_text(encoding="utf-8").splitlines()
    assert commands[0] == "load_file waves.fst"
    order = [
        commands.index(line)
        for line in ("marker_set #1 535000", "marker_set #2 599000", "cursor_set 535000", "zoom_fit")
    ]
    assert order == sorted(order)


HANDOVERS = {"CSC data (a)\nto CMAC": ["dut.u.valid", "dut.u.pd[65:0]"]}

SURFER = {
    "load_file": r".+",
    "variable_add": r"\S+",
    "divider_add": r"\w+",
    "marker_set": r"#\d+ \d+",
    "cursor_set": r"\d+",
    "zoom_fit": "",
    "zoom_in": "",
    "goto_cursor": "",
}
"""What Surfer's command parser takes behind each command that is used."""


@pytest.mark.parametrize(("name", "ram"), CASES)
def test_surfer_takes_every_command(name: str, ram: Ram) -> None:
    shown = replace(view(HwConfig.load(name), ram), handovers=HANDOVERS)
    for line in surfer_text(WAVES, shown).splitlines():
        command, _, rest = line.partition(" ")
        assert re.fullmatch(SURFER[command], rest), line


def test_without_waves_nothing_is_written(tmp_path: Path) -> None:
    write_save_files(tmp_path, view(HwConfig.load("nv_small"), Ram.MC))
    assert list(tmp_path.iterdir()) == []


def test_signals_of_hand_overs_are_a_group_of_their_own() -> None:
    shown = replace(view(HwConfig.load("nv_small"), Ram.MC), handovers=HANDOVERS)
    assert "\n@800200\n-CSC data (a) to CMAC\n@28\ntb_top.dut.u.valid\n@22\ntb_top.dut.u.pd[65:0]\n@1000200\n" in (
        gtkwave_text(WAVES, shown)
    )
    commands = "divider_add CSC_data_a_to_CMAC\nvariable_add tb_top.dut.u.valid\nvariable_add tb_top.dut.u.pd\n"
    assert commands in surfer_text(WAVES, shown)


def test_groups_are_closed_in_the_save_file() -> None:
    lines = gtkwave_text(WAVES, view(HwConfig.load("nv_small"), Ram.MC)).splitlines()
    opened = [lines[n + 1] for n, line in enumerate(lines) if line == "@800200"]
    closed = [lines[n + 1] for n, line in enumerate(lines) if line == "@1000200"]
    assert opened == closed == ["-Layer", "-Element on the bus", "-Port MC", "-Counters"]
