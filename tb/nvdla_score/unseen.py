"""Mutants on which no output of the design depends, whatever its inputs, its memories and its registers hold.

Yosys reads all of them at once: a black box in each mutated module says whether a mutant is chosen. The whole design is
flattened, and its constants are propagated. A mutant is equivalent when its black boxes lie outside the cone of
influence of the outputs. Another black box reads what a clock gate reads that the build replaces with a wire, and says
which of these mutants could stop a clock otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from nvdla_score.cone import cone_of
from nvdla_score.instantiated import Design
from nvdla_score.mutate import Mutant
from nvdla_score.netlist import Bit, Netlist, synthesise
from nvdla_score.sources import Choice, switched
from nvdla_score.yosys import read_source
from nvdla_tb.run.compile.filelist import FileList

BYPASS = "VLIB_BYPASS_POWER_CG"
"""The macro of NVDLA with which clock gates are wires."""

_CHOSEN = "chosen"
_GATE, _READ = "nvdla_bypassed_gate", "read"
_BYPASSED = re.compile(rf"\bmodule\s[^;]*;(?:(?!\bmodule\b).)*?(?=^\s*`ifdef {BYPASS}\b)", re.DOTALL | re.MULTILINE)
_INPUTS = re.compile(r"\binput\b(?:\s+wire\b)?([\w\s,]+?)(?=\binput\b|\boutput\b|;|\))")


def _box(number: int) -> str:
    """Return the name of the black box of a mutant."""
    return f"nvdla_mutant_{number}"


def _declared(number: int) -> str:
    box = _box(number)
    return f" wire {box}_{_CHOSEN}; {box} {box}_cell(.{_CHOSEN}({box}_{_CHOSEN}));"


_FREE = Choice(lambda numbers: "".join(map(_declared, numbers)), lambda number, _: f"{_box(number)}_{_CHOSEN}")


def unseen(
    mutants: Mapping[int, Mutant], files: FileList, design: Design, top: str, folder: Path
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of the mutants that no output can tell from the original.

    With them come those of them that could stop a clock, if the build did not define ``VLIB_BYPASS_POWER_CG``.

    Raises:
        BuildError: when Yosys is not installed, or cannot read the design.
    """
    numbered: dict[Path, list[tuple[int, Mutant]]] = {}
    for number, mutant in mutants.items():
        numbered.setdefault(mutant.path.resolve(), []).append((number, mutant))
    texts = {path: switched(read_source(path), numbered.get(path.resolve(), ()), _FREE) for path in design.files}
    boxes = {_box(number): f"output {_CHOSEN}" for number in mutants}
    if is_bypassed(files):
        texts = {path: _BYPASSED.sub(_with_box, text) for path, text in texts.items()}
        boxes[_GATE] = f"input {_READ}"
    library = "".join(f"(* blackbox, keep *)\nmodule {name}({port}); endmodule\n" for name, port in boxes.items())
    netlist = synthesise(files, {**texts, Path("nvdla_mutants.v"): library}, top, folder, exact=True)
    gates = [bit for cell in netlist.cells.values() if cell.type == _GATE for bit in cell.connections[_READ]]
    hidden = _outside(mutants, netlist, cone_of(netlist))
    return hidden, hidden - _outside(mutants, netlist, cone_of(netlist, gates))


def is_bypassed(files: FileList) -> bool:
    """Return whether clock gates are wires in a build."""
    return BYPASS in {name for name, _ in files.defines}


def _outside(mutants: Mapping[int, Mutant], netlist: Netlist, cone: frozenset[Bit]) -> frozenset[int]:
    seen: dict[str, bool] = {}
    for cell in netlist.cells.values():
        if _CHOSEN in cell.connections:
            seen[cell.type] = seen.get(cell.type, False) or not cone.isdisjoint(cell.connections[_CHOSEN])
    return frozenset(number for number in mutants if not seen.get(_box(number), True))


def _with_box(gate: re.Match[str]) -> str:
    """Return a clock gate up to its bypass, with a black box that reads each of its inputs."""
    names = [name.strip() for found in _INPUTS.finditer(gate[0]) for name in found[1].split(",") if name.strip()]
    return gate[0] + "".join(f"{_GATE} {_GATE}_{name}(.{_READ}({name}));\n" for name in names)
