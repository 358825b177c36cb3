"""Save files that open waves at the first wrong write: for GTKWave, and as commands for Surfer.

Source: GTKWave user's guide, save files and trace flags; Surfer user guide, commands.
"""

from __future__ import annotations

import re
from pathlib import Path

from nvdla_tb.judge.port_rules import PORT_PREFIX, PORT_SCOPES
from nvdla_tb.markup import printable
from nvdla_tb.stimulus.explained import WavesView

GTKWAVE_SUFFIX, SURFER_SUFFIX = ".gtkw", ".sucl"
_WAVES_SUFFIXES = (".fst", ".vcd")

_HEX, _DECIMAL, _BINARY, _ASCII = "22", "24", "28", "820"
_GROUP_BEGIN, _GROUP_END = "800200", "1000200"
_BEFORE_STEPS = 12_000
"""Picoseconds that are shown before the first wrong write."""

_SURFER_ZOOMS = 5
_TOP = "tb_top."
"""Scope of the top in the file, in front of its signals."""

_LAYER = (
    ("name[127:0]", _ASCII),
    ("unit[127:0]", _ASCII),
    ("index[15:0]", _DECIMAL),
    ("group", _BINARY),
    ("started[15:0]", _DECIMAL),
    ("ended[15:0]", _DECIMAL),
)
_ELEMENT = (
    ("mismatch", _BINARY),
    ("write", _BINARY),
    ("layer[15:0]", _DECIMAL),
    ("c[15:0]", _DECIMAL),
    ("h[15:0]", _DECIMAL),
    ("w[15:0]", _DECIMAL),
    ("address[63:0]", _HEX),
    ("expected[{data}:0]", _HEX),
    ("got[{data}:0]", _HEX),
)
_COUNTERS = (
    ("mismatches[31:0]", _DECIMAL),
    ("writes[31:0]", _DECIMAL),
    ("reads[31:0]", _DECIMAL),
    ("outstanding[31:0]", _DECIMAL),
    ("read_cycles[31:0]", _DECIMAL),
    ("write_cycles[31:0]", _DECIMAL),
)
_PORT = (
    ("aw_awvalid", _BINARY),
    ("aw_awready", _BINARY),
    ("aw_awaddr[{address}:0]", _HEX),
    ("w_wvalid", _BINARY),
    ("w_wready", _BINARY),
    ("w_wdata[{data}:0]", _HEX),
    ("b_bvalid", _BINARY),
)


def write_save_files(folder: Path, view: WavesView) -> None:
    """Write both save files beside the waves in a folder, if it has any."""
    for waves in sorted(path for path in folder.glob("waves.*") if path.suffix in _WAVES_SUFFIXES)[:1]:
        waves.with_suffix(GTKWAVE_SUFFIX).write_text(gtkwave_text(waves.name, view), encoding="utf-8")
        waves.with_suffix(SURFER_SUFFIX).write_text(surfer_text(waves.name, view), encoding="utf-8")


def groups_of(view: WavesView) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the groups of signals, each with its format."""
    port = f"{_TOP}{PORT_SCOPES[view.ram]}."
    sizes = {"data": view.data_bits - 1, "address": view.address_bits - 1}

    def named(prefix: str, signals: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
        return [(prefix + name.format(**sizes), shown) for name, shown in signals]

    return [
        ("Layer", named(f"{_TOP}bench_layer.", _LAYER)),
        ("Element on the bus", named(port, _ELEMENT)),
        (f"Port {view.ram.value}", named(f"{_TOP}{PORT_PREFIX[view.ram]}_", _PORT)),
        *(
            (_label(name), [(f"{_TOP}{signal}", _HEX if signal.endswith("]") else _BINARY) for signal in signals])
            for name, signals in view.handovers.items()
        ),
        ("Counters", named(port, _COUNTERS)),
    ]


def _label(name: str) -> str:
    """Return a name of a file of hand-overs on one line."""
    return " ".join(printable(name).split())


def gtkwave_text(waves: str, view: WavesView) -> str:
    """Return a save file of GTKWave: cursor at the first wrong write, markers A and B at the first and last."""
    rest = " ".join(["-1"] * 24)
    lines = [
        f'[dumpfile] "{waves}"',
        f"[timestart] {max(0, view.first - _BEFORE_STEPS)}",
        "[size] 1500 900",
        f"*-13.000000 {view.first} {view.first} {view.last} {rest}",
        "[markername] AFirst wrong write",
        "[markername] BLast wrong write",
        "[signals_width] 340",
        f"@{_BINARY}",
        f"{_TOP}dla_core_clk",
    ]
    for name, signals in groups_of(view):
        lines += [f"@{_GROUP_BEGIN}", f"-{name}"]
        for signal, shown in signals:
            lines += [f"@{shown}", signal]
        lines += [f"@{_GROUP_END}", f"-{name}"]
    return "\n".join(lines) + "\n"


def surfer_text(waves: str, view: WavesView) -> str:
    """Return commands of Surfer: cursor and markers 1 and 2 as in GTKWave, a divider for each group.

    A divider's name is one word, and a marker takes its time; anything else Surfer refuses.

    Source: Surfer, documentation of its commands, and what its command parser takes.
    """
    lines = [f"load_file {waves}", f"variable_add {_TOP}dla_core_clk"]
    for name, signals in groups_of(view):
        divider = re.sub(r"\W+", "_", name)
        lines.append(f"divider_add {divider}")
        lines += [f"variable_add {signal.partition('[')[0]}" for signal, _ in signals]
    lines += [f"marker_set #1 {view.first}", f"marker_set #2 {view.last}", f"cursor_set {view.first}"]
    lines += ["zoom_fit", *["zoom_in"] * _SURFER_ZOOMS, "goto_cursor"]
    return "\n".join(lines) + "\n"
