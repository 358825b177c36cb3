"""Causes in the program: registers of the layer before, or of the other register group, still in force."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any

from tb.explain.cause import Cause, Family, Variant, attempt
from tb.explain.causes import reach
from tb.explain.causes.earlier import earlier
from tb.explain.engine_conv import ConvRun
from tb.explain.engines import CdpRun, PdpRun
from tb.explain.evidence import Evidence
from tb.explain.run import Run
from tb.explain.walk import Walk


def _stale(evidence: Evidence, run: Run) -> Iterator[Variant]:
    for whose, other in earlier(evidence):
        sdp, old = reach.sdp_of(run), reach.sdp_of(other)
        if sdp is not None and old is not None:
            converter = replace(sdp, params=replace(sdp.params, converter=old.params.converter))
            yield Variant(f"output converter {whose}", reach.with_sdp(run, converter))
            for name in reach.STAGES:
                stage = getattr(old, name)
                yield Variant(f"{name.upper()} {whose}", reach.with_stage(run, name, stage))
                mine = getattr(sdp, name)
                if stage is None or mine is None:
                    continue
                kept = replace(mine, alu=stage.alu, mul=stage.mul)
                yield from attempt(
                    f"operand registers of {name.upper()} {whose}", partial(reach.with_stage, run, name, kept)
                )
                if stage.walk is not None and mine.walk is not None:
                    moved = replace(mine, walk=replace(mine.walk, address=stage.walk.address))
                    yield from attempt(
                        f"operand address of {name.upper()} {whose}", partial(reach.with_stage, run, name, moved)
                    )
        yield from _parameters(run, other, whose)
        theirs, mine_walk = reach.source(other), reach.source(run)
        if theirs is not None and mine_walk is not None:
            for name, walk in _placed(mine_walk, theirs):
                yield from attempt(f"{name} of the input {whose}", partial(reach.with_source, run, walk))
        for name, walk in _placed(run.dst, other.dst):
            yield Variant(f"{name} of the output {whose}", replace(run, dst=walk))


def _placed(mine: Walk, theirs: Walk) -> Iterator[tuple[str, Walk]]:
    """Yield a walk with each register that says where a cube lies from another one."""
    surface, line, _ = theirs.steps
    yield "address", replace(mine, address=theirs.address)
    yield "line stride", mine.stepped(line=line)
    yield "surface stride", mine.stepped(surface=surface)
    yield "both strides", mine.stepped(surface=surface, line=line)


def _parameters(run: Run, other: Run, whose: str) -> Iterator[Variant]:
    ways: list[tuple[Any, Any, Callable[[Run, Any], Run]]] = [
        (reach.first(run), reach.first(other), reach.with_first),
    ]
    if run.engine is not reach.first(run):
        ways.append((reach.pooling(run), reach.pooling(other), reach.with_pooling))
    for mine, theirs, put in ways:
        if type(mine) is not type(theirs) or not isinstance(mine, PdpRun | CdpRun | ConvRun):
            continue
        for field in fields(mine.params):
            params = partial(_replaced, mine.params, **{field.name: getattr(theirs.params, field.name)})
            yield from attempt(f"{field.name} {whose}", partial(_with_params, run, mine, params, put))
        yield from attempt(
            f"all parameters {whose}", partial(_with_params, run, mine, partial(_replaced, theirs.params), put)
        )


def _replaced(params: Any, **new: Any) -> Any:
    return replace(params, **new)


def _with_params(run: Run, engine: Any, params: Callable[[], Any], put: Callable[[Run, Any], Run]) -> Run:
    return put(run, replace(engine, params=params()))


CAUSES = (Cause("stale-register", "registers that belong to another layer", Family.CONTROL, _stale, reruns=True),)
