"""Files of what memory holds in a run: at each comparison of the program, and at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import CheckCrc, CheckFile, CheckOp
from nvdla_tb.stimulus.trace.data import Chunks, format_data
from nvdla_tb.writing import writing


class Dumps:
    """Writes ``.dat`` files as traces have them.

    ::

        dumps = Dumps(folder, memories)
        dumps.at_check(check)       # 001_MC_80800000.dat
        dumps.at_end()              # end_MC_80200000.dat, a file for each allocation
    """

    def __init__(self, folder: Path, memories: Mapping[Ram, MemoryImage]) -> None:
        """Bind the folder, which must exist, and the memories of the run."""
        self._folder, self._memories = folder, memories
        self._count = 0

    def at_check(self, check: CheckOp) -> None:
        """Write what a comparison finds in its range of memory, bytes that were never written left out."""
        if isinstance(check, CheckCrc | CheckFile):
            self._count += 1
            self._write(f"{self._count:03}", check.ram, check.address, check.nbytes)

    def at_end(self) -> None:
        """Write every allocation that holds anything."""
        for ram, memory in self._memories.items():
            for allocation in memory.allocations:
                self._write("end", ram, allocation.address, allocation.nbytes)

    def _write(self, when: str, ram: Ram, address: int, nbytes: int) -> None:
        chunks: Chunks = tuple((at - address, data) for at, data in self._memories[ram].runs_in(address, nbytes))
        if not chunks:
            return
        path = self._folder / f"{when}_{ram.value}_{address:x}.dat"
        with writing(path), path.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(format_data(chunks))
