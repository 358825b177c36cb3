"""Loadables: what the public compiler leaves for the runtime, read and checked.

Nothing of a file is trusted: every index, name, size and offset is checked here, so that what follows can use them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from nvdla_models.reading import read_bytes
from nvdla_networks.errors import NetworkError
from nvdla_networks.flat import BYTES, I16, I32, STRING, U8, U16, U32, U64, Record, Table, Vector, read_root
from nvdla_networks.sniff import is_onnx, what_else
from nvdla_tb.nvdla.memory import Ram

MAX_FILE_BYTES = 1 << 30
"""The largest file that is read; VGG-16 in FP16 takes a quarter of it."""

MAX_MEMORY_BYTES = 1 << 30
"""The most that all memory of a network may take."""

_VERSION = "<3B"

_BLOB = Table(
    "blob", {"name": STRING, "size": U64, "interface": U32, "sub_interface": U32, "version": _VERSION, "data": BYTES}
)
_MEMORY = Table(
    "memory",
    {
        "id": U16,
        "domain": U8,
        "flags": U16,
        "size": U64,
        "alignment": U32,
        "contents": Vector(STRING),
        "offsets": Vector(U64),
        "bind_id": U16,
        "tensor_desc_id": U16,
    },
)
_ADDRESS = Table("address", {"id": U16, "mem_id": U16, "offset": U64, "size": U64})
_EVENT = Table("event", {"id": U16, "type": U8, "target": U16, "val": U32, "op": U8})
_TASK = Table(
    "task",
    {
        "id": U16,
        "interface": U32,
        "instance": I16,
        **dict.fromkeys(("address_list", "pre_actions", "post_actions"), Vector(U16)),
    },
)
_SUBMIT = Table("submit", {"id": U16, "task_id": Vector(U16)})
_TENSOR = Table(
    "tensor",
    {
        "name": STRING,
        "id": U16,
        "mem_id": U16,
        "size": U64,
        "offset": U64,
        **dict.fromkeys(("data_format", "data_type", "data_category", "pixel_format", "pixel_mapping"), U8),
        **dict.fromkeys("nchw", I32),
        **{f"stride_{n}": U32 for n in range(8)},
    },
)
_RELOCATION = Table(
    "relocation",
    {"address_id": U16, "write_id": U16, "offset": U64, "interface": U32, "sub_interface": U32, "reloc_type": U8},
)
LOADABLE = Table(
    "loadable",
    {
        "version": _VERSION,
        "task_list": Vector(_TASK),
        "memory_list": Vector(_MEMORY),
        "address_list": Vector(_ADDRESS),
        "event_list": Vector(_EVENT),
        "blobs": Vector(_BLOB),
        "tensor_desc_list": Vector(_TENSOR),
        "reloc_list": Vector(_RELOCATION),
        "submit_list": Vector(_SUBMIT),
    },
)


class Interface(IntEnum):
    """The consumer of a blob or a task."""

    DLA1 = 1
    EMU1 = 2


_RAM_OF_DOMAIN = {0: Ram.MC, 1: Ram.CVSRAM}
_ALLOCATE, _SET, _INPUT, _OUTPUT = 1, 2, 4, 8
_KNOWN_FLAGS = _ALLOCATE | _SET | _INPUT | _OUTPUT

Version = tuple[int, int, int]


@dataclass(frozen=True)
class Blob:
    """Contents of memory; ``version`` is that of the interface that wrote it."""

    version: Version
    data: bytes


@dataclass(frozen=True)
class Memory:
    """One allocation: its RAM, size, contents as (offset, blob name), and what it is bound to."""

    id: int
    ram: Ram
    nbytes: int
    contents: tuple[tuple[int, str], ...]
    is_input: bool
    is_output: bool
    is_allocated: bool = True


@dataclass(frozen=True)
class Address:
    """A place in an allocation."""

    memory: int
    offset: int


@dataclass(frozen=True)
class Task:
    """The tasks of one submission: its consumer, and the places that its descriptors count."""

    id: int
    interface: Interface
    addresses: tuple[Address, ...]


@dataclass(frozen=True)
class Loadable:
    """A loadable whose indices, sizes and names fit each other; ``tasks`` are in the order of their submission.

    ``tensors`` say how what is bound lies in memory, by the names of the table.
    """

    blobs: dict[str, Blob]
    memories: dict[int, Memory]
    tasks: tuple[Task, ...]
    tensors: tuple[Record, ...]


def read_loadable(path: Path) -> Loadable:
    """Read a loadable.

    Raises:
        NetworkError: for a file that is too large, or no loadable.
    """
    data = read_bytes(path, MAX_FILE_BYTES, NetworkError)
    try:
        return parse_loadable(data)
    except NetworkError as error:
        other = what_else(data) or ("it is an ONNX file; name it .onnx" if is_onnx(data) else None)
        if other is not None:
            raise NetworkError(f"{path} must be a loadable: {other}") from error
        raise NetworkError(f"{path}: {error}") from error


def parse_loadable(data: bytes) -> Loadable:
    """Return the loadable that a file holds.

    Raises:
        NetworkError: naming table, entry and rule.
    """
    root = read_root(data, LOADABLE)
    blobs = {name: _blob(record) for name, record in _indexed("blobs", "name", root["blobs"]).items()}
    memories = {n: _memory(record, blobs) for n, record in _indexed("memory_list", "id", root["memory_list"]).items()}
    total = sum(memory.nbytes for memory in memories.values())
    if total > MAX_MEMORY_BYTES:
        raise NetworkError(f"memory_list must take at most {MAX_MEMORY_BYTES} bytes, not {total}")
    places = _indexed("address_list", "id", root["address_list"])
    addresses = {number: _address(record, memories) for number, record in places.items()}
    tasks = {n: _task(record, addresses) for n, record in _indexed("task_list", "id", root["task_list"]).items()}
    order = [number for submit in root["submit_list"] for number in submit["task_id"]]
    for number in order:
        if number not in tasks:
            raise NetworkError(f"submit_list must name tasks of task_list, not {number}")
    if sorted(order) != sorted(tasks):
        raise NetworkError(f"submit_list must name every task once, not {order}")
    _check_events(root["event_list"], root["task_list"])
    for tensor in root["tensor_desc_list"]:
        _check_tensor(tensor, memories)
    return Loadable(blobs, memories, tuple(tasks[n] for n in order), root["tensor_desc_list"])


def _indexed(name: str, key: str, records: Iterable[Record]) -> dict[Any, Record]:
    """Return the records of a table by a slot, whose value must be theirs alone."""
    found: dict[Any, Record] = {}
    for record in records:
        value = record[key]
        if value in found:
            raise NetworkError(f"{name} must have each {key} once, not {value!r} twice")
        found[value] = record
    return found


def _blob(record: Record) -> Blob:
    name, data = record["name"], record["data"]
    if record["size"] != len(data):
        raise NetworkError(f"blob {name!r} must have the {record['size']} bytes of its size, not {len(data)}")
    return Blob(record["version"], data)


def _memory(record: Record, blobs: dict[str, Blob]) -> Memory:
    what = f"memory {record['id']}"
    flags, size = record["flags"], record["size"]
    if record["domain"] not in _RAM_OF_DOMAIN:
        raise NetworkError(f"{what}: domain must be 0 (MC) or 1 (CV), not {record['domain']}")
    if flags & ~_KNOWN_FLAGS:
        raise NetworkError(f"{what}: flags must be of allocate (1), set (2), input (4) and output (8), not {flags:#x}")
    if not 1 <= size <= MAX_MEMORY_BYTES:
        raise NetworkError(f"{what}: size must be 1 to {MAX_MEMORY_BYTES} bytes, not {size}")
    contents: list[tuple[int, str]] = []
    if flags & _SET:
        if len(record["contents"]) != len(record["offsets"]):
            raise NetworkError(
                f"{what}: contents must have an offset each, "
                f"not {len(record['contents'])} and {len(record['offsets'])} offsets"
            )
        named = zip(record["offsets"], record["contents"], strict=True)
        contents = [(offset, name) for offset, name in named if name]
    for offset, name in contents:
        if name not in blobs:
            raise NetworkError(f"{what}: contents must name a blob, not {name!r}")
        if offset + len(blobs[name].data) > size:
            raise NetworkError(
                f"{what}: blob {name!r} must lie within its {size} bytes, not {offset} + {len(blobs[name].data)}"
            )
    ram = _RAM_OF_DOMAIN[record["domain"]]
    kinds = (bool(flags & bit) for bit in (_INPUT, _OUTPUT, _ALLOCATE))
    return Memory(record["id"], ram, size, tuple(contents), *kinds)


def _address(record: Record, memories: dict[int, Memory]) -> Address:
    what = f"address {record['id']}"
    if record["mem_id"] not in memories:
        raise NetworkError(f"{what}: mem_id must be one of memory_list, not {record['mem_id']}")
    room = memories[record["mem_id"]].nbytes
    if record["offset"] >= room:
        raise NetworkError(f"{what}: offset must lie within the {room} bytes of its memory, not {record['offset']}")
    return Address(record["mem_id"], record["offset"])


def _task(record: Record, addresses: dict[int, Address]) -> Task:
    what = f"task {record['id']}"
    if record["interface"] not in (Interface.DLA1, Interface.EMU1):
        raise NetworkError(f"{what}: interface must be 1 (DLA) or 2 (EMU), not {record['interface']}")
    if not record["address_list"]:
        raise NetworkError(f"{what}: address_list must begin with the network descriptor, not be empty")
    for number in record["address_list"]:
        if number not in addresses:
            raise NetworkError(f"{what}: address_list must name entries of the loadable's, not {number}")
    return Task(record["id"], Interface(record["interface"]), tuple(addresses[n] for n in record["address_list"]))


def _check_events(events: Iterable[Record], tasks: Iterable[Record]) -> None:
    """Check that tasks name events that exist; tasks run in their order, so that no event decides anything."""
    known = _indexed("event_list", "id", events)
    for task in tasks:
        for action in (*task["pre_actions"], *task["post_actions"]):
            if action not in known:
                raise NetworkError(f"task {task['id']}: actions must name entries of event_list, not {action}")


def _check_tensor(record: Record, memories: dict[int, Memory]) -> None:
    what = f"tensor {record['name']!r}"
    if record["mem_id"] not in memories:
        raise NetworkError(f"{what}: mem_id must be one of memory_list, not {record['mem_id']}")
    room = memories[record["mem_id"]].nbytes
    if record["offset"] >= room:
        raise NetworkError(f"{what}: offset must lie in its memory of {room} bytes, not {record['offset']}")
    for name in "nchw":
        if not 1 <= record[name] <= 1 << 16:
            raise NetworkError(f"{what}: {name} must be 1 to {1 << 16}, not {record[name]}")
    if record["n"] != 1:
        raise NetworkError(f"{what}: n must be 1, not {record['n']}: batches of inputs are several images")
