"""The netlist of a whole design: Yosys flattens it, propagates constants, and keeps the names of its signals.

Source: Yosys, documentation of ``flatten``, ``opt`` and ``write_json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from nvdla_score.yosys import PACKAGE, read_command, write_copies, yosys
from nvdla_tb.plain_data import decoded
from nvdla_tb.run import folders
from nvdla_tb.run.compile.filelist import FileList
from nvdla_tb.run.compile.toolchain import tool_environment
from nvdla_tb.run.errors import BuildError
from nvdla_tb.run.process import last_relevant_lines, supervise

Bit = int | str
"""A net, or the constant ``0``, ``1``, ``x`` or ``z``."""

_SCRIPT, _NETLIST, _LOG = "synthesise.ys", "netlist.json", "yosys.log"
_PUBLIC = "public"
_FOLD = "opt_expr -mux_bool -fine"
# What is undriven, or selected to be unknown, is a free choice.
_UNKNOWN = " -mux_undef -undriven"
_ROUNDS = 5


class Cell(msgspec.Struct, frozen=True):
    """A cell of Yosys' library, or a black box.

    Attributes:
        type: of the library, such as ``$add``; ``$scopeinfo`` stands for an instance that was flattened.
        parameters: by name, binary numbers or text.
        attributes: by name.
        port_directions: ``input`` or ``output``, by port.
        connections: by port, bits from the lowest.
    """

    type: str
    parameters: dict[str, str] = {}
    attributes: dict[str, str] = {}
    port_directions: dict[str, str] = {}
    connections: dict[str, list[Bit]] = {}


class Net(msgspec.Struct, frozen=True):
    """A signal of the sources, or one of Yosys' own, whose name is hidden.

    Attributes:
        bits: from the lowest.
        hide_name: 1 for Yosys' own.
        offset: index of the first bit.
        upto: 1 when indices count upwards, as in ``[0:7]``.
        attributes: ``hdlname`` has the instances and the signal, with spaces between.
    """

    bits: list[Bit]
    hide_name: int = 0
    offset: int = 0
    upto: int = 0
    attributes: dict[str, str] = {}


class Port(msgspec.Struct, frozen=True):
    """A port of the design: its direction, and its bits from the lowest."""

    direction: str
    bits: list[Bit]


class Netlist(msgspec.Struct, frozen=True):
    """A flattened design: ports, cells and nets by name."""

    ports: dict[str, Port]
    cells: dict[str, Cell]
    netnames: dict[str, Net]


class _File(msgspec.Struct, frozen=True):
    modules: dict[str, Netlist]


def synthesise(files: FileList, texts: Mapping[Path, str], top: str, folder: Path, *, exact: bool = False) -> Netlist:
    """Return the netlist of a design; a minute and a half and 900 MB for nv_small.

    Args:
        files: its filelist, for macros.
        texts: of its sources and headers, by file.
        top: name of its top module.
        folder: for copies of the sources, the script, the log and the netlist.
        exact: whether unknown values stay unknown, and names of signals are not kept. Otherwise an unknown value is a
            free choice, as synthesis takes it.

    Raises:
        BuildError: when Yosys is not installed, or cannot read the design.
    """
    program = yosys()
    if program is None:
        raise BuildError(f"Yosys is not installed: pip install {PACKAGE}")
    work = folders.emptied(folder, "netlist")
    fold = _FOLD if exact else _FOLD + _UNKNOWN
    # Signals that nothing reads would vanish, or lose what drives them.
    kept = () if exact else (f"select -set {_PUBLIC} w:* w:$* %d", f"setattr -set keep 1 @{_PUBLIC}")
    # As `opt -full`, except for `opt_share`, which takes the drivers of signals away.
    optimise = ("opt_muxtree", "opt_reduce -full", "opt_merge -share_all", "opt_dff", fold, "opt_clean")
    script = [
        *(read_command(files, name, defer=True) for name in write_copies(texts, work)),
        *(f"hierarchy -check -top {top}", *kept, "proc", "flatten", fold, "opt_merge -share_all"),
        *optimise * _ROUNDS,
        f"write_json {_NETLIST}",
    ]
    (work / _SCRIPT).write_text("\n".join(script) + "\n", encoding="utf-8")
    log = work / "output.log"
    log.write_bytes(b"")
    command = [str(program), "-q", "-l", _LOG, "-s", _SCRIPT]
    ended = supervise(command, cwd=work, environment=tool_environment(), log_path=log)
    if ended.returncode != 0:
        raise BuildError(f"Yosys cannot synthesise {top}:", *last_relevant_lines(log), f"log: {log}", log_path=log)
    return decoded((work / _NETLIST).read_bytes(), _File).modules[top]
