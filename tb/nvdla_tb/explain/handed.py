"""Values that units hand to each other, as the model computes them, beat by beat in the order of the hardware."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from nvdla_models.layout import ImageWeightLayout
from nvdla_models.precision import Precision
from nvdla_tb.explain.build import AnyLayer
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.handed_beats import Handed, NotComparable, at_the_end
from nvdla_tb.explain.handed_inside import inside
from nvdla_tb.explain.handovers import Stage
from nvdla_tb.judge.predictor.conv import convolve
from nvdla_tb.judge.predictor.conv_operands import Operands, operands_of, read_lines
from nvdla_tb.judge.predictor.expectation import ReadMemory, read_patterns
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import ConvLayer, PooledLayer, SdpLayer
from nvdla_tb.nvdla.program.conv_buffer import FETCHES_ALL, Fetch
from nvdla_tb.nvdla.surfaces import ImageSurface


def _first_layer(evidence: Evidence) -> AnyLayer:
    """Return a layer, or the one whose output it pools on the fly."""
    assert evidence.started is not None
    layer = evidence.started.layer
    return layer.producer if isinstance(layer, PooledLayer) else layer


def _fetch(evidence: Evidence) -> Fetch:
    """Return what CDMA fetches for a convolution."""
    return evidence.started.fetch if isinstance(evidence.started, StartedLayer) else FETCHES_ALL


def _operands(evidence: Evidence, layer: ConvLayer, read: ReadMemory) -> Operands:
    """Return what a convolution multiplies.

    Raises:
        NotComparable: when it finds something in the convolution buffer that is not known.
    """
    if evidence.operands is not None:
        return evidence.operands
    if not _fetch(evidence).all:
        raise NotComparable("the content of the convolution buffer is not known")
    return operands_of(layer, read)


def _other_engine(value: str, evidence: Evidence) -> NotComparable:
    """Return why a layer has no such values."""
    assert evidence.started is not None
    return NotComparable(f"{value} are values of another engine than {evidence.started.engine}")


def handed(stage: Stage, evidence: Evidence, lanes: int) -> Handed:
    """Return the values that pass a stage for a layer.

    Args:
        stage: one whose values are compared.
        evidence: the layer, and the memory that it found.
        lanes: elements of a beat.

    Raises:
        NotComparable: when the model has no values for it, or a beat no such number of lanes.
    """
    value, first, read = stage.value, _first_layer(evidence), evidence.read
    if stage.kind.is_element and (value != "entered" or lanes == 1):
        if lanes != 1:
            raise NotComparable(f"a beat of {value} must hold 1 of them, not {lanes}")
        assert evidence.started is not None
        operands = _operands(evidence, first, read) if isinstance(first, ConvLayer) else None
        return inside(value, evidence.started.layer, read, operands)
    if isinstance(first, ConvLayer):
        operands, fetch = _operands(evidence, first, read), _fetch(evidence)
        if value in ("sums", "entered"):
            sums = convolve(first, operands)[0].view(np.int32).astype(np.int64)
            return _cube(sums, first.dst.layout.atom_elements, lanes)
        if (value == "packed" and not fetch.weights) or (value == "converted" and not fetch.data):
            return _nothing(lanes)
        if value == "packed":
            return _in_entries(first, _packed(first, read, lanes), first.cbuf.data_banks, first.cbuf.weight_banks)
        if first.params.winograd or first.params.precision is not Precision.INT8:
            raise NotComparable("only direct convolutions of INT8 have a known order there")
        if value == "converted":
            cube = read_lines(first, read).astype(np.int64)
            found = (
                _pixels(first, cube, lanes)
                if isinstance(first.src, ImageSurface)
                else _lines(cube, lanes, first.cbuf.fetch_slices)
            )
            return _in_entries(first, found, 0, first.cbuf.data_banks)
        return _operations(stage, first, _taken(first, operands), lanes)
    if isinstance(first, SdpLayer) and value == "entered":
        return _cube(read_patterns(first.src, read).astype(np.int64), first.src.layout.atom_elements, lanes)
    raise _other_engine(value, evidence)


def counted(value: str, evidence: Evidence) -> int:
    """Return the sum of the numbers that pass a stage for a layer.

    Args:
        value: one of ``KINDS`` that counts.
        evidence: the layer.

    Raises:
        NotComparable: for a layer of another engine.

    Source: signals between CDMA, CSC and CACC; measured on the public nv_small RTL.
    """
    layer = _first_layer(evidence)
    if not isinstance(layer, ConvLayer):
        raise _other_engine(value, evidence)
    if value == "loaded-lines":
        return layer.src.layout.shape[1] if _fetch(evidence).data else 0
    if value == "loaded-kernels":
        return layer.weights.layout.shape[0] if _fetch(evidence).weights else 0
    _, height, width = layer.dst.layout.shape
    return -(-layer.weights.layout.shape[0] // layer.weights.layout.config.mac_atomic_k_size) * height * width


def _nothing(lanes: int) -> Handed:
    """Return what is handed on where nothing is."""
    none = np.zeros((0, lanes), dtype=np.int64)
    return Handed(none, none.astype(np.bool_), lambda *_: "", loaded=0)


def _in_entries(layer: ConvLayer, found: Handed, first_bank: int, banks: int) -> Handed:
    """Return the values of a layer with their entries of the convolution buffer, where each beat fills one.

    Source: architecture documentation, "Convolution buffer"; measured on the public nv_small RTL.
    """
    config = layer.weights.layout.config
    if len(layer.cubes) > 1 or found.values.shape[1] != config.cbuf_bank_width_bytes:
        return found
    depth = config.cbuf_bank_depth
    entries = np.arange(len(found.values)) if found.entries is None else found.entries
    return replace(found, entries=entries, banks=(first_bank * depth, banks * depth), loaded=len(entries))


def _packed(layer: ConvLayer, read: ReadMemory, lanes: int) -> Handed:
    """Return the bytes of weights in the order of their addresses.

    Raises:
        NotComparable: for compressed weights, which have streams of their own for masks and sizes.
    """
    weights = layer.weights
    if weights.compression is not None:
        raise NotComparable("only weights that are not compressed have a known order there")
    nbytes = weights.fetched_bytes
    raw = read(weights.ram, weights.address, -(-nbytes // lanes) * lanes)
    values = raw.view(np.int8).astype(np.int64).reshape(-1, lanes)
    real = np.arange(values.size).reshape(values.shape) < nbytes
    return Handed(values, real, lambda beat, lane: f"byte {beat * lanes + lane} of the weights")


def _whole(cube: NDArray[np.int64], lanes: int) -> NDArray[np.int64]:
    """Return a cube with channels in whole beats."""
    return np.pad(cube, ((0, -cube.shape[0] % lanes), (0, 0), (0, 0)))


def _cube(cube: NDArray[np.int64], atom: int, lanes: int) -> Handed:
    """Return a cube (C, H, W) surface by surface, line by line, column by column, with all its padding channels."""
    channels, height, width = cube.shape
    if atom % lanes:
        raise NotComparable(f"a beat must hold an atom of {atom} elements or a part of it, not {lanes}")
    values = cube.reshape(-1, atom, height, width).transpose(0, 2, 3, 1).reshape(-1, lanes)

    def place(beat: int, lane: int) -> str:
        surface, h, w, part = np.unravel_index(beat, (channels // atom, height, width, atom // lanes))
        return f"c={int(surface) * atom + int(part) * lanes + lane} h={h} w={w}"

    return Handed(values, np.ones(values.shape, dtype=np.bool_), place, sides=at_the_end(len(values)))


def _lines(cube: NDArray[np.int64], lanes: int, together: int) -> Handed:
    """Return a cube by lines that are fetched together, in these surface by surface, line by line, column by column.

    Padding channels do not count.
    """
    channels, height, width = cube.shape
    atoms = _whole(cube, lanes).reshape(-1, lanes, height, width)
    each, groups = np.indices((len(atoms), height, width)), []
    for start in range(0, height, together):
        groups.append(each[:, :, start : start + together].reshape(3, -1))
    surface, line, column = np.concatenate(groups, axis=1)
    real = (np.arange(len(atoms) * lanes) < channels).reshape(-1, lanes)

    def place(beat: int, lane: int) -> str:
        return f"c={int(surface[beat]) * lanes + lane} h={line[beat]} w={column[beat]}"

    # In the buffer the surfaces of a line lie side by side.
    entries = (line * len(atoms) + surface) * width + column
    return Handed(atoms[surface, :, line, column], real[surface], place, entries=entries)


def _pixels(layer: ConvLayer, cube: NDArray[np.int64], lanes: int) -> Handed:
    """Return an image line by line: pixels with their channels side by side, and padding beside them.

    What lies behind the last pixel of a line is not defined: that was measured on the public nv_small RTL.
    """
    params, channels = layer.params, len(cube)
    padded = np.pad(cube, ((0, 0), (0, 0), (params.pad_left, params.pad_right)), constant_values=params.pad_value)
    lines = padded.transpose(1, 2, 0).reshape(cube.shape[1], -1)
    whole = np.pad(lines, ((0, 0), (0, -lines.shape[1] % lanes)))
    atoms = whole.shape[1] // lanes

    def place(beat: int, lane: int) -> str:
        h, atom = divmod(beat, atoms)
        w, c = divmod(atom * lanes + lane, channels)
        return f"c={c} h={h} w={w - params.pad_left}"

    real = np.arange(whole.shape[1]) < lines.shape[1]
    counts = np.broadcast_to(real, whole.shape)
    return Handed(whole.reshape(-1, lanes), counts.reshape(-1, lanes), place)


_Taken = tuple[NDArray[np.int64], NDArray[np.int64], int | None]


def _taken(layer: ConvLayer, operands: Operands) -> _Taken:
    """Return what the core multiplies for a layer.

    Returns:
        Taps (blocks, R, S, outputs, channels of a block); kernels (K, C, R, S), of images with the columns of a kernel
        as channels, too, as they lie side by side; outputs of a line, of images, None of cubes.

    Raises:
        NotComparable: for images of which several lines are taken at once.
    """
    layout, cube = layer.weights.layout, operands.cube.astype(np.int64)
    per_block = layout.config.mac_atomic_c_size
    if not isinstance(layout, ImageWeightLayout):
        return _taps(layer, cube, per_block), operands.weights.astype(np.int64), None
    if layout.line_group > 1:
        raise NotComparable("images of which several lines are taken at once have no known order there")
    kernels = layout.pre_extend(operands.weights).astype(np.int64)
    taps = _taps(layer, cube, layout.shape[1])[0].transpose(0, 2, 1, 3)  # R, output, S, channel
    beside = taps.reshape(*taps.shape[:2], -1)
    blocks = np.pad(beside, ((0, 0), (0, 0), (0, -beside.shape[2] % per_block)))
    split = blocks.reshape(*taps.shape[:2], -1, per_block).transpose(2, 0, 1, 3)
    return split[:, :, np.newaxis], kernels, layer.dst.layout.shape[2]


def _operations(stage: Stage, layer: ConvLayer, taken: _Taken, lanes: int) -> Handed:
    """Return the values at CSC and CMAC: kernels of a stripe, elements or sums of products of an atomic operation.

    The order is kernel group, stripe of outputs, block of channels, line and column of the kernel, output. Kernels
    come all at once, or one after the other.

    Source: public architecture documentation, unit description, "Convolution operation".
    """
    value, config = stage.value, layer.weights.layout.config
    per_block, per_group = config.mac_atomic_c_size, config.mac_atomic_k_size
    cells, allowed = stage.cells_of(config), stage.lanes(config)
    if lanes not in allowed:
        raise NotComparable(f"a beat of {value} must hold {' or '.join(map(str, allowed))} of them, not {lanes}")
    taps, weights, line = taken
    kernels, channels, rows, columns = weights.shape
    padded = np.pad(weights, ((0, -kernels % per_group), (0, -channels % per_block), (0, 0), (0, 0)))
    groups = padded.reshape(-1, per_group, padded.shape[1] // per_block, per_block, rows, columns)
    grouped = groups.transpose(0, 2, 4, 5, 1, 3)[:, :, :, :, cells]  # group, block, r, s, kernel, channel
    # Which weights there are: (groups, blocks, kernels of a group, channels of a block).
    kernel = (np.arange(len(padded)) < kernels).reshape(-1, 1, per_group, 1)
    real = (kernel & (np.arange(padded.shape[1]) < channels).reshape(1, -1, 1, per_block))[:, :, cells]
    parts: list[NDArray[np.int64]] = []
    marks: list[NDArray[np.bool_]] = []
    places: list[NDArray[np.int64]] = []
    finished: list[NDArray[np.float64]] = []
    for group, (start, stop) in product(range(len(grouped)), tuple(stage.stripes(taps.shape[3], line))):
        at = np.stack(np.meshgrid(*map(np.arange, taps.shape[:3]), np.arange(start, stop), indexing="ij"), axis=-1)
        if value == "kernels":
            there = real[group].any(axis=(0, 2))
            present = there if lanes == per_block else np.full(there.shape, there.any())
            sent = grouped[group][:, :, :, present]
            parts.append(sent.reshape(-1, lanes))
            marks.append(np.broadcast_to(real[group][:, None, None, present], sent.shape).reshape(-1, lanes))
            at = np.repeat(at[:, :, :, 0].reshape(-1, 4), len(parts[-1]) // at[:, :, :, 0, 0].size, axis=0)
        elif value == "elements":
            parts.append(taps[:, :, :, start:stop].reshape(-1, lanes))
            counted = real[group].any(axis=1)[:, None, None, None]
            marks.append(np.broadcast_to(counted, (*at.shape[:4], per_block)).reshape(-1, lanes))
        else:
            products = np.einsum("brsnc,brskc->brsnk", taps[:, :, :, start:stop], grouped[group])
            parts.append(products.reshape(-1, lanes))
            marks.append(np.broadcast_to(real[group].any(axis=(0, 2)), (len(parts[-1]), lanes)))
        places.append(np.insert(at.reshape(-1, 4), 0, group, axis=1))
        finished.append(np.zeros(len(places[-1])))
        finished[-1][-1:] = (stop - start) / (len(grouped) * taps.shape[3])
    where, width = np.concatenate(places), layer.dst.layout.shape[2]
    sides = (
        {}
        if value == "kernels"
        else _beside(where, taps.shape[:3], [range(*ends) for ends in stage.stripes(taps.shape[3], line)])
    )

    def place(beat: int, lane: int) -> str:
        group, block, r, s, output = where[beat].tolist()
        cell = lane if value == "products" else lane // per_block
        if value == "kernels" and lanes == per_block:
            cell = beat - int(np.flatnonzero((where == where[beat]).all(axis=1))[0])
        kernel = f"k={group * per_group + cells.start + cell}"
        channel = f"c={block * per_block + lane % per_block}"
        named = {"kernels": f"{kernel} {channel}", "elements": channel, "products": f"{kernel} block {block}"}[value]
        return f"{named} r={r} s={s} for the output h={output // width} w={output % width}"

    shares = np.cumsum(np.concatenate(finished))
    return Handed(np.concatenate(parts), np.concatenate(marks), place, shares, sides=sides)


def _beside(where: NDArray[np.int64], steps: tuple[int, ...], stripes: Sequence[range]) -> dict[str, NDArray[np.int64]]:
    """Return the numbers beside the values of atomic operations.

    Args:
        where: (beats, 5) group, block, line and column of the kernel, output.
        steps: how many blocks, lines and columns there are.
        stripes: the outputs of each.
    """
    group, output = where[:, 0], where[:, 4]
    ends = np.ravel_multi_index(tuple(where[:, 1:4].T), steps) == np.prod(steps) - 1
    found = {
        "stripe-start": np.isin(output, [stripe.start for stripe in stripes]),
        "stripe-end": np.isin(output, [stripe.stop - 1 for stripe in stripes]),
        "channel-end": ends,
        "layer-end": ends & (group == group.max(initial=0)) & (output >= stripes[-1].start),
    }
    return {name: flags.astype(np.int64) for name, flags in found.items()}


def _taps(layer: ConvLayer, cube: NDArray[np.int64], per_block: int) -> NDArray[np.int64]:
    """Return the input of every product: (blocks, R, S, outputs, channels of a block)."""
    params, (_, height, width) = layer.params, layer.dst.layout.shape
    rows, columns = layer.weights.layout.shape[2:]
    down, right = (height - 1) * params.stride_y + 1, (width - 1) * params.stride_x + 1
    below = down + (rows - 1) * params.dilation_y - params.pad_top - cube.shape[1]
    behind = right + (columns - 1) * params.dilation_x - params.pad_left - cube.shape[2]
    sides = ((0, 0), (params.pad_top, max(0, below)), (params.pad_left, max(0, behind)))
    blocks = _whole(np.pad(cube, sides, constant_values=params.pad_value), per_block)
    blocks = blocks.reshape(-1, per_block, *blocks.shape[1:])
    taps = np.empty((len(blocks), rows, columns, height * width, per_block), dtype=np.int64)
    for r, s in np.ndindex(rows, columns):
        y, x = r * params.dilation_y, s * params.dilation_x
        seen = blocks[:, :, y : y + down : params.stride_y, x : x + right : params.stride_x]
        taps[:, r, s] = seen.reshape(len(blocks), per_block, -1).transpose(0, 2, 1)
    return taps
