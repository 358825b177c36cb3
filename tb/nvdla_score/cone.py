"""The cone of influence of a design's outputs: all bits on which an output depends, however late.

Logic of single bits, registers and memories is followed bit by bit, sums and products from lower to higher bits, and
all other cells as a whole. What lies outside the cone cannot be told from outside.

Source: Yosys, documentation of its cell library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nvdla_score.netlist import Bit, Cell, Netlist

_BITWISE = frozenset(("$and", "$or", "$xor", "$xnor", "$not", "$pos", "$buf"))
_CARRIES = frozenset(("$add", "$sub", "$neg", "$mul"))
_CHOOSES = frozenset(("$mux", "$pmux"))
_REGISTER = ("$dff", "$adff", "$sdff", "$dlatch", "$adlatch", "$aldff", "$ff")
_READS, _WRITES = "$memrd", "$memwr"
_INPUT, _OUTPUT = "input", "output"
_OPERANDS = ("A", "B")


class _Cells:
    """Cells by the bits that they drive."""

    def __init__(self, netlist: Netlist) -> None:
        self.drivers: dict[Bit, tuple[Cell, int]] = {}
        self.writers: dict[str, list[Cell]] = {}
        for cell in netlist.cells.values():
            if cell.type.startswith(_WRITES):
                self.writers.setdefault(cell.parameters["MEMID"], []).append(cell)
            for port, bits in cell.connections.items():
                if cell.port_directions.get(port) == _OUTPUT:
                    self.drivers.update((bit, (cell, position)) for position, bit in enumerate(bits))

    def causes(self, bit: Bit) -> Iterator[Bit]:
        """Yield the bits on which a bit depends directly."""
        cell, position = self.drivers.get(bit, (None, 0))
        if cell is None:
            return
        ports = cell.connections
        if cell.type in _BITWISE:
            yield from (_at(ports[port], position) for port in _OPERANDS if port in ports)
        elif cell.type in _CARRIES:
            for port in _OPERANDS:
                yield from ports.get(port, ())[: position + 1]
        elif cell.type in _CHOOSES:
            width = len(ports["A"])
            yield from (ports["A"][position], *ports["B"][position::width], *ports["S"])
        elif cell.type.startswith(_REGISTER):
            yield from _column(cell, position, ("D", "AD"))
        elif cell.type.startswith(_READS):
            yield from (other for port, bits in ports.items() if port != "DATA" for other in bits)
            for writer in self.writers.get(cell.parameters["MEMID"], ()):
                yield from _column(writer, position, ("DATA", "EN"))
        else:
            yield from _inputs(cell)


def driven_in(netlist: Netlist) -> frozenset[Bit]:
    """Return all bits that an input of the design or a cell drives, constants not among them."""
    inputs = [bit for port in netlist.ports.values() if port.direction != _OUTPUT for bit in port.bits]
    return frozenset((*inputs, *_Cells(netlist).drivers))


def cone_of(netlist: Netlist, beside: Iterable[Bit] = ()) -> frozenset[Bit]:
    """Return all bits on which the outputs of a design, and some bits beside them, depend, constants not among them."""
    cells = _Cells(netlist)
    left = [bit for port in netlist.ports.values() if port.direction != _INPUT for bit in port.bits]
    left += beside
    found: set[Bit] = set()
    while left:
        bit = left.pop()
        if isinstance(bit, int) and bit not in found:
            found.add(bit)
            left += cells.causes(bit)
    return frozenset(found)


def _inputs(cell: Cell) -> Iterable[Bit]:
    return [bit for port, bits in cell.connections.items() if cell.port_directions.get(port) != _OUTPUT for bit in bits]


def _column(cell: Cell, position: int, data: Iterable[str]) -> Iterator[Bit]:
    """Yield one bit of the ports that have data, and all bits of the other inputs."""
    for port, bits in cell.connections.items():
        if port in data:
            yield bits[position]
        elif cell.port_directions.get(port) != _OUTPUT:
            yield from bits


def _at(bits: list[Bit], position: int) -> Bit:
    """Return a bit of an operand, which is extended when it is shorter: by its sign, or by 0."""
    return bits[min(position, len(bits) - 1)]
