"""Save files name signals that exist, and open at the first wrong write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.explain.waves import View, gtkwave_text, surfer_text, write_save_files
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.ports import expected_ports

SCOPE = HDL / "scope"


def view(config: HwConfig, ram: Ram, folder: Path) -> View:
    nbytes = config.primary_memif_width_bytes if ram is Ram.MC else config.secondary_memif_width_bytes
    return View(folder / "waves.fst", ram, 8 * nbytes, config.memif_address_width_bits, 535_000, 599_000)


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
def test_every_signal_of_the_save_files_exists(name: str, ram: Ram, tmp_path: Path) -> None:
    config = HwConfig.load(name)
    shown = view(config, ram, tmp_path)
    existing = declared(config, shown.data_bits)
    in_gtkwave = [line for line in gtkwave_text(shown).splitlines() if line.startswith("tb_top.")]
    in_surfer = re.findall(r"^variable_add (\S+)$", surfer_text(shown), re.MULTILINE)
    assert len(in_gtkwave) > 20
    assert set(in_gtkwave) <= existing
    assert in_surfer == [signal.partition("[")[0] for signal in in_gtkwave]
    port = "nvdla_core2dbb_w_wdata" if ram is Ram.MC else "nvdla_core2cvsram_w_wdata"
    assert f"tb_top.{port}[{shown.data_bits - 1}:0]" in in_gtkwave


def test_both_open_at_the_first_wrong_write_and_mark_the_last(tmp_path: Path) -> None:
    shown = view(HwConfig.load("nv_small"), Ram.MC, tmp_path)
    gtkwave, surfer = write_save_files(shown)
    text = gtkwave.read_text(encoding="utf-8")
    assert re.search(r"^\*\S+ 535000 535000 599000( -1){24}$", text, re.MULTILINE)
    assert '[dumpfile] "waves.fst"' in text
    assert 0 < int(re.findall(r"\[timestart\] (\d+)", text)[0]) < 535_000
    commands = surfer.read_text(encoding="utf-8").splitlines()
    assert commands[0] == "load_file waves.fst"
    order = [
        commands.index(line)
        for line in ("marker_set #1 535000", "marker_set #2 599000", "cursor_set 535000", "zoom_fit")
    ]
    assert order == sorted(order)


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
def test_surfer_takes_every_command(name: str, ram: Ram, tmp_path: Path) -> None:
    for line in surfer_text(view(HwConfig.load(name), ram, tmp_path)).splitlines():
        command, _, rest = line.partition(" ")
        assert re.fullmatch(SURFER[command], rest), line


def test_groups_are_closed_in_the_save_file(tmp_path: Path) -> None:
    lines = gtkwave_text(view(HwConfig.load("nv_small"), Ram.MC, tmp_path)).splitlines()
    opened = [lines[n + 1] for n, line in enumerate(lines) if line == "@800200"]
    closed = [lines[n + 1] for n, line in enumerate(lines) if line == "@1000200"]
    assert opened == closed == ["-Layer", "-Element on the bus", "-Port MC", "-Counters"]
