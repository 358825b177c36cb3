"""Loadables: what fits together is read, everything else refused by name."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nvdla_models.errors import InputError
from nvdla_networks.compiled import Compiled
from nvdla_networks.errors import NetworkError
from nvdla_networks.loadable import MAX_MEMORY_BYTES, Interface, parse_loadable, read_loadable
from nvdla_networks.scenario import play_networks
from nvdla_tb.nvdla.memory import Ram
from tests.unit.networks.loadables import SMALL, copying


def test_a_loadable_comes_back_as_it_was_written() -> None:
    loadable = parse_loadable(copying().file())
    assert [task.interface for task in loadable.tasks] == [Interface.DLA1]
    assert [address.memory for address in loadable.tasks[0].addresses] == [0, 1, 2, 3, 0, 5, 6]
    assert loadable.memories[0].contents == ((0, "descriptors0"),)
    assert (loadable.memories[5].is_input, loadable.memories[6].is_output) == (True, True)
    assert loadable.memories[5].ram is Ram.MC
    assert [loadable.tensors[0][axis] for axis in "chw"] == [8, 2, 3]


def changed(table: str, number: int, **values: Any) -> bytes:
    """Return the file with some slots of one entry of a table exchanged."""
    record = copying().record()
    record[table] = [dict(entry) for entry in record[table]]
    record[table][number] |= values
    return copying().file(**record)


@pytest.mark.parametrize(
    ("table", "number", "values", "message"),
    [
        ("blobs", 0, {"size": 39}, "blob 'descriptors0' must have the 39 bytes of its size, not 40"),
        ("blobs", 1, {"name": "descriptors0"}, "blobs must have each name once, not 'descriptors0' twice"),
        ("memory_list", 0, {"domain": 2}, "memory 0: domain must be 0 (MC) or 1 (CV), not 2"),
        (
            "memory_list",
            4,
            {"flags": 0x11},
            "memory 5: flags must be of allocate (1), set (2), input (4) and output (8), not 0x11",
        ),
        ("memory_list", 4, {"size": 0}, f"memory 5: size must be 1 to {MAX_MEMORY_BYTES} bytes, not 0"),
        ("memory_list", 4, {"size": 1 << 63}, f"memory 5: size must be 1 to {MAX_MEMORY_BYTES} bytes, not {1 << 63}"),
        (
            "memory_list",
            4,
            {"size": MAX_MEMORY_BYTES},
            f"memory_list must take at most {MAX_MEMORY_BYTES} bytes, not {MAX_MEMORY_BYTES + 884}",
        ),
        ("memory_list", 1, {"id": 0}, "memory_list must have each id once, not 0 twice"),
        ("memory_list", 0, {"offsets": []}, "memory 0: contents must have an offset each, not 1 and 0 offsets"),
        ("memory_list", 0, {"contents": ["none"]}, "memory 0: contents must name a blob, not 'none'"),
        ("memory_list", 0, {"offsets": [1]}, "memory 0: blob 'descriptors0' must lie within its 40 bytes, not 1 + 40"),
        ("address_list", 5, {"mem_id": 9}, "address 6: mem_id must be one of memory_list, not 9"),
        ("address_list", 5, {"offset": 48}, "address 6: offset must lie within the 48 bytes of its memory, not 48"),
        ("task_list", 0, {"interface": 3}, "task 0: interface must be 1 (DLA) or 2 (EMU), not 3"),
        (
            "task_list",
            0,
            {"address_list": []},
            "task 0: address_list must begin with the network descriptor, not be empty",
        ),
        ("task_list", 0, {"address_list": [0, 77]}, "task 0: address_list must name entries of the loadable's, not 77"),
        ("task_list", 0, {"pre_actions": [4]}, "task 0: actions must name entries of event_list, not 4"),
        ("submit_list", 0, {"task_id": [1]}, "submit_list must name tasks of task_list, not 1"),
        ("submit_list", 0, {"task_id": [0, 0]}, "submit_list must name every task once, not [0, 0]"),
        ("tensor_desc_list", 0, {"mem_id": 9}, "tensor 'data': mem_id must be one of memory_list, not 9"),
        ("tensor_desc_list", 0, {"c": -1}, "tensor 'data': c must be 1 to 65536, not -1"),
        ("tensor_desc_list", 0, {"n": 2}, "tensor 'data': n must be 1, not 2: batches of inputs are several images"),
        ("tensor_desc_list", 0, {"offset": 48}, "tensor 'data': offset must lie in its memory of 48 bytes, not 48"),
    ],
)
def test_a_table_that_does_not_fit_the_others_is_refused(
    table: str, number: int, values: dict[str, Any], message: str
) -> None:
    with pytest.raises(NetworkError) as refused:
        parse_loadable(changed(table, number, **values))
    assert str(refused.value) == message


def test_memory_that_is_not_allocated_must_not_be_used() -> None:
    loadable = parse_loadable(changed("memory_list", 4, flags=4))
    with pytest.raises(NetworkError, match=r"memory 5: flags must hold allocate \(1\), because a task uses it$"):
        Compiled("test", loadable, SMALL).place()


def test_a_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=r"^.*none: cannot be read: No such file or directory$"):
        read_loadable(tmp_path / "none")


def test_a_refusal_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "short.nvdla"
    path.write_bytes(bytes(1))
    with pytest.raises(NetworkError, match=r"^.*short\.nvdla: loadable must lie within the 1 bytes of the file"):
        read_loadable(path)


@pytest.mark.parametrize("seed", range(150))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(seed: int) -> None:
    draw = random.Random(seed)
    data = bytearray(copying(3).file())
    for _ in range(draw.choice((1, 2, 8))):
        data[draw.randrange(len(data))] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
    # Anything but a refusal by name fails the test.
    with suppress(InputError):
        network = Compiled("damaged", parse_loadable(bytes(data)), SMALL).place()
        play_networks("damaged", [network], [[None] * len(network.inputs)])
