"""A scenario: everything the bench needs to play and judge one stimulus."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import NAME_CHARACTERS
from nvdla_models.reading import shown
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import CheckCrc, CheckFile, LineWait, MemInit, MemLoad, Op, Program
from nvdla_tb.stimulus.settings import BenchSettings


class ScenarioError(InputError):
    """A scenario that cannot be played as it is; the message names the operation and the rule."""


def check_name(name: str) -> None:
    """Check the name of a scenario or test, which terminals, pages and environments show.

    Raises:
        ScenarioError: for one that is empty, too long or not printable.
    """
    if not (name.isprintable() and 1 <= len(name) <= NAME_CHARACTERS):
        raise ScenarioError(f"name must be 1 to {NAME_CHARACTERS} printable characters, not {shown(repr(name))}")


@dataclass(frozen=True)
class Scenario:
    """Memory contents and register program in one sequence, with the seed and settings of its bench.

    ``config`` names the configuration that the program is written for.
    """

    name: str
    config: str
    ops: Program
    seed: int
    settings: BenchSettings = field(default_factory=BenchSettings)

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.settings.serve_interrupts and any(isinstance(op, LineWait) for op in self.ops):
            raise ScenarioError("a program that waits for the interrupt line must have serve_interrupts = false")

    @property
    def checks(self) -> tuple[CheckCrc | CheckFile, ...]:
        """The golden results that the scenario carries."""
        return tuple(op for op in self.ops if isinstance(op, CheckCrc | CheckFile))


def empty_memories(config: HwConfig) -> dict[Ram, MemoryImage]:
    """Return an image for each memory port of a configuration."""
    rams = (Ram.MC, Ram.CVSRAM) if config.secondary_memif_enable else (Ram.MC,)
    return {ram: MemoryImage(limit=1 << config.memif_address_width_bits) for ram in rams}


def apply_memory_op(memories: dict[Ram, MemoryImage], op: MemInit | MemLoad) -> None:
    """Carry out a memory operation on the image of its RAM.

    Args:
        memories: One image per memory port that the configuration has.
        op: The operation.

    Raises:
        ScenarioError: when the configuration has no such RAM.
    """
    if op.ram not in memories:
        allowed = ", ".join(ram.value for ram in memories)
        raise ScenarioError(f"{type(op).__name__}: ram must be one of {allowed}, not {op.ram.value}")
    image = memories[op.ram]
    if isinstance(op, MemInit):
        image.allocate_merged(f"region_{op.address:x}", op.address, op.nbytes)
        image.fill(op.address, op.nbytes, op.value)
        return
    image.allocate_merged(op.file_name.removesuffix(".dat"), op.address, max(op.nbytes, 1))
    for offset, data in op.chunks:
        image.write(op.address + offset, data)


def memory_ops(image: MemoryImage, ram: Ram) -> tuple[Op, ...]:
    """Describe an image as operations: loads for what was written, zeroes for what was only reserved.

    Args:
        image: The image to describe.
        ram: The port it belongs to.

    Returns:
        In address order, one ``MemLoad`` per allocation with written bytes, and one ``MemInit`` for
        the rest of an allocation after its last written byte.
    """
    chunks: dict[int, list[tuple[int, bytes]]] = {}
    for address, data in image.runs():
        allocation = image.allocation_at(address)
        assert allocation is not None
        chunks.setdefault(allocation.address, []).append((address - allocation.address, data))
    names = Counter(allocation.name for allocation in image.allocations)
    ops: list[Op] = []
    for allocation in image.allocations:
        loaded = 0
        if allocation.address in chunks:
            name = allocation.name if names[allocation.name] == 1 else f"{allocation.name}_{allocation.address:x}"
            load = MemLoad(ram, allocation.address, tuple(chunks[allocation.address]), f"{name}.dat")
            loaded = load.nbytes
            ops.append(load)
        if loaded < allocation.nbytes:
            ops.append(MemInit(ram, allocation.address + loaded, allocation.nbytes - loaded))
    return tuple(ops)
