"""Mutants on which no output of the design depends, whatever its inputs, its memories and its registers hold.

Yosys reads all of them at once: a black box in each mutated module says whether a mutant is chosen. The whole design is
flattened, and its constants are propagated. A mutant is equivalent when its black boxes lie outside the cone of
influence of the outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nvdla_score.cone import cone_of
from nvdla_score.instantiated import Design
from nvdla_score.mutate import Mutant
from nvdla_score.netlist import synthesise
from nvdla_score.sources import Choice, switched
from nvdla_score.yosys import read_source
from nvdla_tb.run.compile.filelist import FileList

_CHOSEN = "chosen"


def _box(number: int) -> str:
    """Return the name of the black box of a mutant."""
    return f"nvdla_mutant_{number}"


def _declared(number: int) -> str:
    box = _box(number)
    return f" wire {box}_{_CHOSEN}; {box} {box}_cell(.{_CHOSEN}({box}_{_CHOSEN}));"


_FREE = Choice(lambda numbers: "".join(map(_declared, numbers)), lambda number, _: f"{_box(number)}_{_CHOSEN}")


def unseen(mutants: Mapping[int, Mutant], files: FileList, design: Design, top: str, folder: Path) -> frozenset[int]:
    """Return the numbers of the mutants that no output can tell from the original.

    Raises:
        BuildError: when Yosys is not installed, or cannot read the design.
    """
    numbered: dict[Path, list[tuple[int, Mutant]]] = {}
    for number, mutant in mutants.items():
        numbered.setdefault(mutant.path.resolve(), []).append((number, mutant))
    texts = {path: switched(read_source(path), numbered.get(path.resolve(), ()), _FREE) for path in design.files}
    library = "".join(
        f"(* blackbox, keep *)\nmodule {_box(number)}(output {_CHOSEN}); endmodule\n" for number in mutants
    )
    netlist = synthesise(files, {**texts, Path("nvdla_mutants.v"): library}, top, folder, exact=True)
    cone = cone_of(netlist)
    seen: dict[str, bool] = {}
    for cell in netlist.cells.values():
        if _CHOSEN in cell.connections:
            seen[cell.type] = seen.get(cell.type, False) or not cone.isdisjoint(cell.connections[_CHOSEN])
    return frozenset(number for number in mutants if not seen.get(_box(number), True))
