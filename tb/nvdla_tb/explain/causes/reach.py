"""Reaching into a run: its engines, stages and walks through memory, and runs in which one of them is other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from nvdla_models.converter import Converter
from nvdla_models.errors import InputError
from nvdla_tb.explain.build import run_of
from nvdla_tb.explain.engine_conv import ConvRun, CubeInput, PooledRun
from nvdla_tb.explain.engines import Make, Run, SdpRun, StageRun
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.walk import Walk

T = TypeVar("T")

STAGES = ("x1", "x2", "y")
_MOST_EARLIER = 2


def changed(value: T, path: str, new: Mapping[str, Any]) -> T:
    """Return a copy of a dataclass in which fields of what lies at a path, as ``engine.params``, are other."""
    head, _, rest = path.partition(".")
    fields = {head: changed(getattr(value, head), rest, new)} if head else new
    return replace(value, **fields)  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class Part(Generic[T]):
    """A part of a run.

    ::

        walk = Part(run, "dst", run.dst)
        make = walk.other(address=0x100)  # make() is the run that writes there

    Attributes:
        run: the run.
        path: where it is, as names of fields.
        value: what is there.
    """

    run: Run
    path: str
    value: T

    def part(self, name: str) -> Part[Any]:
        """Return the part that a field is."""
        return Part(self.run, f"{self.path}.{name}", getattr(self.value, name))

    def other(self, where: str = "", /, **new: Any) -> Make:
        """Return what makes the run in which fields are other; ``where`` is a path from here to what has them."""
        return partial(changed, self.run, f"{self.path}.{where}" if where else self.path, new)

    def put(self, value: T) -> Make:
        """Return what makes the run with something else in the place of this part."""
        path, _, name = self.path.rpartition(".")
        return partial(changed, self.run, path, {name: value})


Named = Iterator[tuple[str, Part[Walk]]]
"""Walks, each with the stage of SDP whose operands it reads, which is empty for the input and the output."""


def engines(run: Run, kind: type[T]) -> Iterator[Part[T]]:
    """Yield the engines of a type in a run, what hands on to others included."""
    found: list[Part[Any]] = [Part(run, "engine", run.engine)]
    for engine in found:
        found += [engine.part(name) for name in ("producer", "pooling", "sdp") if hasattr(engine.value, name)]
        if isinstance(engine.value, kind):
            yield engine


def stages(run: Run) -> Iterator[tuple[str, Part[StageRun]]]:
    """Yield the active stages of SDP by their names."""
    for sdp in engines(run, SdpRun):
        for name in STAGES:
            if getattr(sdp.value, name) is not None:
                yield name.upper(), sdp.part(name)


def output(run: Run) -> Named:
    """Yield the walk through the output."""
    yield "", Part(run, "dst", run.dst)


def inputs(run: Run) -> Named:
    """Yield the walk through the input cube, if there is one."""
    first = Part(run, "engine", run.engine)
    if isinstance(run.engine, PooledRun):
        first = first.part("producer")
    if isinstance(first.value, ConvRun):
        if isinstance(first.value.source, CubeInput):
            yield "", first.part("source").part("walk")
    elif hasattr(first.value, "src"):
        yield "", first.part("src")


def operands(run: Run) -> Named:
    """Yield the walks through the operands of SDP's stages."""
    for name, stage in stages(run):
        if stage.value.walk is not None:
            yield name, stage.part("walk")


def said(stage: str, detail: str) -> str:
    """Return a detail with the stage before it, if there is one."""
    return f"{stage}: {detail}" if stage else detail


def source(run: Run) -> Walk | None:
    """Return the walk through the input cube, None when there is none."""
    return next((part.value for _, part in inputs(run)), None)


def others(part: Part[Any], title: str, values: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, Make]]:
    """Yield runs with other numbers in fields, each with what it is in words.

    Args:
        part: what has the fields.
        title: what follows their names in words.
        values: numbers by the names of fields.
    """
    for name, numbers in values.items():
        for number in numbers:
            yield f"{name}{title} {number} instead of {getattr(part.value, name)}", part.other(**{name: number})


def converter_numbers(old: Converter) -> dict[str, tuple[int, ...]]:
    """Return what the registers of a converter may be taken for, by the names of its fields."""
    return {"offset": (0, -old.offset), "scale": (1, -old.scale), "shift": (0, old.shift - 1, old.shift + 1)}


def earlier(evidence: Evidence) -> Iterator[tuple[str, Run]]:
    """Yield the runs of the last layers before on the same engine, whose registers it may still use, with whose.

    The first ran in the other register group, the second in the same one.
    """
    count = 0
    for layer in reversed(evidence.before):
        try:
            other = run_of(layer)
        except InputError:
            continue
        if type(other.engine) is type(evidence.run.engine):
            count += 1
            yield "of the layer before" if count == 1 else f"of {count} layers before", other
        if count == _MOST_EARLIER:
            return
