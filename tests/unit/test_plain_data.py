"""Every table that files hold: what its type refuses is refused with the key, what is allowed and the value."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect as kinds

from dlhdl_tb.scenario import ScenarioEntry as DlhdlEntry
from nvdla_models.errors import InputError
from nvdla_tb.coverage.model import _File as CoverageFile
from nvdla_tb.plain_data import converted
from nvdla_tb.run.compile.ports import PortMapFile
from nvdla_tb.run.project import ProjectFile
from nvdla_tb.run.regress.code_exclusions import _File as ExclusionsFile
from nvdla_tb.run.regress.features import FeaturesFile
from nvdla_tb.stimulus.generate.plan import ScenarioEntry
from nvdla_tb.stimulus.settings import BenchSettings

VALUES = (None, True, -1, 0, 1, 70_000, 1.5, float("nan"), "", "x", "int8", [], [1], [1, 2], ["x"], [{}], {}, {"x": 1})
TABLES: tuple[Any, ...] = (
    *(ScenarioEntry, BenchSettings, DlhdlEntry, FeaturesFile, CoverageFile, ExclusionsFile),
    *(ProjectFile, PortMapFile),
)


def sample(kind: kinds.Type) -> Any:
    """Return a value that a type allows."""
    match kind:
        case kinds.StructType():
            tag = {} if kind.tag_field is None else {kind.tag_field: kind.tag}
            return tag | {field.encode_name: sample(field.type) for field in kind.fields if field.required}
        case kinds.UnionType():
            return sample(kind.types[0])
        case kinds.TupleType():
            return [sample(one) for one in kind.item_types]
        case kinds.VarTupleType():
            return [sample(kind.item_type)] * (kind.min_length or 0)
        case kinds.EnumType():
            return next(iter(kind.cls)).value
        case kinds.LiteralType():
            return kind.values[0]
    return {kinds.IntType: 1, kinds.FloatType: 0.5, kinds.BoolType: True, kinds.StrType: "x"}.get(type(kind), {})


def tables(kind: kinds.Type) -> Iterator[kinds.StructType]:
    """Yield a type's tables, those in others too, each once."""
    seen: list[kinds.StructType] = []
    waiting = [kind]
    while waiting:
        one = waiting.pop()
        if isinstance(one, kinds.StructType):
            if one in seen:
                continue
            seen.append(one)
            waiting += [field.type for field in one.fields]
        for name in ("types", "item_types"):
            waiting += getattr(one, name, ())
        waiting += [getattr(one, name) for name in ("item_type", "value_type") if hasattr(one, name)]
    yield from seen


STRUCTS = {
    one.cls.__module__ + "." + one.cls.__name__: one for table in TABLES for one in tables(kinds.type_info(table))
}


@pytest.mark.parametrize("name", STRUCTS)
def test_a_table_is_refused_just_where_its_type_says_so_and_the_message_names_the_key(name: str) -> None:
    info = STRUCTS[name]
    good = sample(info)
    msgspec.convert(good, info.cls)
    assert len(STRUCTS) > 25
    for field in info.fields:
        for value in VALUES:
            raw = good | {field.encode_name: value}
            try:
                msgspec.convert(raw, info.cls)
            except msgspec.ValidationError:
                with pytest.raises(InputError, match=rf"^file: at\.{field.encode_name}\b") as caught:
                    converted(raw, info.cls, "file", path="at")
                assert re.search(" must be .+, not .|is missing$|is unknown; allowed: ", str(caught.value))
            except InputError:
                continue
        if field.required:
            with pytest.raises(InputError, match=rf"^file: {field.encode_name} is missing$"):
                converted({key: one for key, one in good.items() if key != field.encode_name}, info.cls, "file")
    if info.forbid_unknown_fields:
        allowed = ", ".join(filter(None, (info.tag_field, *(field.encode_name for field in info.fields))))
        with pytest.raises(InputError, match=rf"^file: at\.nothing is unknown; allowed: {re.escape(allowed)}$"):
            converted(good | {"nothing": 1}, info.cls, "file", path="at")


def test_a_table_of_another_kind_is_told_by_its_tag() -> None:
    with pytest.raises(InputError, match=r"^f: layer\[1\]\.engine must be one of SDP, PDP, CDP, .*, not EW$"):
        converted({"layer": [{"engine": "SDP"}, {"engine": "EW"}]}, ScenarioEntry, "f")
    with pytest.raises(InputError, match=r"^f: layer\[0\] must be a table, not 3$"):
        converted({"layer": [3]}, ScenarioEntry, "f")


def test_numbers_of_a_list_are_counted_with_their_limits() -> None:
    class Spot(msgspec.Struct):
        at: tuple[int, int]
        names: tuple[str, ...] = ()

    for raw in ([1], [1, "x"], [1, 2, 3], "x"):
        with pytest.raises(InputError, match=rf"^f: at must be 2 integers, not {re.escape(repr(raw))}$"):
            converted({"at": raw}, Spot, "f")
    with pytest.raises(InputError, match=r"^f: names\[1\] must be a text, not 3$"):
        converted({"at": [1, 2], "names": ["a", 3]}, Spot, "f")


_THREADS = """
import sys, threading, msgspec
from nvdla_tb.plain_data import converted, decoded

sys.setswitchinterval(1e-6)
for number in range(100):
    inner = msgspec.defstruct("Inner", [(f"f{k}", "int | str | None", None) for k in range(40)])
    outer = msgspec.defstruct("Outer", [(f"g{k}", inner | None, None) for k in range(20)])
    gate, values = threading.Barrier(4), []

    def read(kind, gate=gate, values=values):
        gate.wait()
        values.append(converted({"g1": {"f3": 5}}, kind, "x").g1 if kind is outer else decoded('{"f3": 5}', kind))

    threads = [threading.Thread(target=read, args=(kind,)) for kind in (outer, inner) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [value.f3 for value in values] == [5] * 4
"""


def test_threads_that_meet_a_type_first_at_the_same_time_all_read_it():
    ended = subprocess.run([sys.executable, "-c", _THREADS], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
