"""Where values lie: buffers, the cubes in them, and which buffers share memory because their values never meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nvdla_models.config import HwConfig
from nvdla_models.conv.image_limits import misread_rows
from nvdla_models.errors import InputError
from nvdla_models.layout import PixelLayout
from nvdla_models.layout.pixel_formats import pixel_format, supported_formats
from nvdla_models.precision import Precision
from nvdla_networks.compiler.arrange import Arranged, Channels, Home
from nvdla_networks.compiler.convolutions import blocks_of, tiles_of
from nvdla_networks.compiler.cubes import Cube
from nvdla_networks.compiler.fuse import Compute, Step
from nvdla_networks.compiler.graph import Concat, Conv, Node, Pool, Shape, Slice
from nvdla_networks.compiler.pooling import can_fly
from nvdla_networks.compiler.target import Target
from nvdla_networks.errors import NodeRefused
from nvdla_networks.network import Largest, Softmax

_IMAGE_FORMATS = {1: "T_R8", 3: "T_A8B8G8R8", 4: "T_A8B8G8R8"}
"""By channels; kernels are 0 where a picture of three has its fourth."""


@dataclass(frozen=True)
class Pooled:
    """A step whose result PDP takes on the fly, and what PDP does."""

    compute: Compute
    pool: Node

    @property
    def name(self) -> str:
        """Name of what comes first."""
        return self.compute.name

    @property
    def inputs(self) -> tuple[str, ...]:
        """Values that it reads."""
        return self.compute.inputs

    @property
    def output(self) -> str:
        """The value that it writes."""
        return self.pool.output


Layered = Compute | Pooled | Node
"""Nodes that become layers of PDP or CDP."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The order of computation, and the place of each value.

    Attributes:
        steps: Nodes that become layers, in order.
        host: Nodes that the host computes in the end.
        cubes: Cubes of every value in memory.
        channels: Channels of every value.
        pictures: Inputs that lie in memory as images, instead of as cubes.
        buffers: Bytes of each piece of memory that values lie in.
    """

    steps: tuple[Layered, ...]
    host: tuple[Node, ...]
    cubes: Mapping[str, Cube]
    channels: Mapping[str, Channels]
    pictures: Mapping[str, PixelLayout]
    buffers: tuple[int, ...]


def planned(arranged: Arranged, steps: Sequence[Step], target: Target, *, keeps: bool = False) -> Plan:
    """Return a place for every value that hardware reads or writes.

    Args:
        arranged: The graph, and which values lie in others.
        steps: What SDP does at once, and all else.
        target: Configuration and precision.
        keeps: Whether every value is still in memory in the end; else values that never meet share memory.

    Raises:
        NetworkError: for a window that PDP does not have, and for operators after one of the host.
    """
    host = tuple(step for step in steps if isinstance(step, Node) and isinstance(step.operation, Softmax | Largest))
    pictures = _pictures_of(arranged, steps, target)
    layered = _layered(arranged, [step for step in steps if step not in host], pictures, target)
    for node in host:
        for step in steps:
            if node.output in step.inputs:
                raise NodeRefused(node.name, f"the host makes probabilities and classes, and {step.name!r} goes on")
    graph = arranged.graph
    lasting = {*graph.inputs, *graph.outputs, *(value for node in host for value in node.inputs)}
    wanted = [*graph.inputs, *(step.output for step in layered)]
    roots = {value: _root(arranged, value) for value in graph.shapes}
    lives = _lives(layered, roots)
    cubes: dict[str, Cube] = {}
    buffers: list[int] = []
    free: list[tuple[int, int]] = []
    lasting = {roots[value].value for value in lasting}
    fixed = {roots[value].value for value in wanted} if keeps else lasting
    order = sorted(dict.fromkeys(roots[value].value for value in wanted), key=lambda root: lives.get(root, (-1, -1))[0])
    for root in order:
        shape = (arranged.channels[root].count, *graph.shapes[root][1:])
        begin, end = lives.get(root, (-1, -1))
        picture = pictures.get(root)
        cube = Cube.packed(target, 0, shape)
        nbytes = cube.nbytes if picture is None else picture.plane_nbytes[0]
        if root in lasting and target.precision is not Precision.INT8:
            # What converts it takes as many channels as fill atoms of INT8.
            nbytes += cube.surface_stride_bytes
        number = None if root in fixed else _reused(free, buffers, begin, nbytes)
        if number is None:
            number = len(buffers)
            buffers.append(nbytes)
        cubes[root] = Cube.packed(target, number, shape)
        if root not in fixed:
            free.append((end, number))
    for value, home in roots.items():
        if home.value in cubes:
            whole, (_, height, width) = cubes[home.value], graph.shapes[value]
            part = whole.channels(home.surface * target.lanes, arranged.channels[value].count)
            cubes[value] = part.lines(home.line, height).columns(home.column, width)
    return Plan(tuple(layered), host, cubes, arranged.channels, pictures, tuple(buffers))


def _reused(free: list[tuple[int, int]], buffers: list[int], begin: int, nbytes: int) -> int | None:
    """Take the smallest buffer that is large enough and whose value is no more needed when a step begins."""
    fitting = [(buffers[number], (end, number)) for end, number in free if end < begin and buffers[number] >= nbytes]
    if not fitting:
        return None
    _, entry = min(fitting)
    free.remove(entry)
    return entry[1]


def _root(arranged: Arranged, value: str) -> Home:
    """Return where in the value that has a buffer of its own another lies."""
    root = Home(value, 0)
    while root.value in arranged.homes:
        home = arranged.homes[root.value]
        root = Home(home.value, root.surface + home.surface, root.line + home.line, root.column + home.column)
    return root


def _lives(layered: Sequence[Layered], roots: Mapping[str, Home]) -> dict[str, tuple[int, int]]:
    """Return the first and the last step that touch each buffer's value."""
    lives: dict[str, tuple[int, int]] = {}
    for number, step in enumerate(layered):
        for value in (*step.inputs, step.output):
            root = roots[value].value
            lives[root] = (lives.get(root, (number, number))[0], number)
    return lives


def _layered(
    arranged: Arranged, steps: Sequence[Step], pictures: Mapping[str, PixelLayout], target: Target
) -> list[Layered]:
    """Return what becomes layers: without what only says where values lie, and with PDP on the fly where it can be."""
    layered: list[Layered] = []
    flown: set[str] = set()
    for step in steps:
        if isinstance(step, Node):
            if not isinstance(step.operation, Concat | Slice) and step.output not in flown:
                layered.append(step)
            continue
        following = [other for other in steps if step.output in other.inputs]
        private = len(following) == 1 and step.output not in (*arranged.graph.outputs, *arranged.homes)
        if private and _flies(arranged, step, following[0], pictures.get(step.src), target):
            pool = following[0]
            assert isinstance(pool, Node)
            layered.append(Pooled(step, pool))
            flown.add(pool.output)
        else:
            layered.append(step)
    return layered


def _flies(arranged: Arranged, step: Compute, following: Step, picture: PixelLayout | None, target: Target) -> bool:
    """Return whether PDP can take what a step makes on the fly: whole cubes only."""
    if not isinstance(following, Node) or not isinstance(following.operation, Pool):
        return False
    shapes, channels = arranged.graph.shapes, arranged.channels
    shape = shapes[step.output]
    try:
        if not can_fly(target, following.operation, shape, shapes[following.output]):
            return False
    except InputError as error:
        raise NodeRefused(following.name, str(error)) from error
    if step.conv is None:
        return True
    blocks = blocks_of(step.conv, channels[step.src], target.lanes, picture)
    return all(len(tiles_of(step.name, target, step.conv, shapes[step.src], block)) == 1 for block in blocks)


def _pictures_of(arranged: Arranged, steps: Sequence[Step], target: Target) -> Mapping[str, PixelLayout]:
    """Return the inputs that lie in memory as images, because one convolution alone takes them and gains by it.

    CSC then takes the elements of a whole row of a kernel at once, where a feature cube gives it the few channels of
    one pixel at a time. The integers are the same, and so is the result.
    """
    graph, config = arranged.graph, target.config
    found: dict[str, PixelLayout] = {}
    if target.precision is not Precision.INT8:
        return found
    for value in graph.inputs:
        users = [step for step in steps if value in step.inputs]
        shared = value in graph.outputs or any(home.value == value for home in arranged.homes.values())
        if len(users) != 1 or shared:
            continue
        (step,) = users
        if isinstance(step, Compute) and step.conv is not None and step.other != value:
            shape = graph.shapes[value]
            name = _IMAGE_FORMATS.get(shape[0])
            if name in supported_formats(config) and _gains(config, step.conv, shape, name):
                channels = pixel_format(name).channels
                found[value] = PixelLayout.packed(config, name, (channels, *shape[1:]))
    return found


def _gains(config: HwConfig, conv: Conv, shape: Shape, name: str) -> bool:
    """Return whether CSC takes fewer steps for a kernel than with a feature cube, and reads the right pixels."""
    window, atom = conv.window, config.mac_atomic_c_size
    row = window.kernel[1] * pixel_format(name).channels
    if conv.groups != 1 or window.dilation != (1, 1):
        return False
    steps, steps_of_cube = -(-row // atom), window.kernel[1] * -(-shape[0] // atom)
    return steps < steps_of_cube and misread_rows(config, row, window.output(1, shape[2])) is None
