"""Reaching into a run: its walks through memory, its stages and parameters, and copies with one changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from models.errors import InputError
from tb.explain.engine_conv import ConvRun, CubeInput
from tb.explain.engine_move import MoveRun
from tb.explain.engine_pooled import PooledRun
from tb.explain.engines import CdpRun, EngineRun, PdpRun, SdpRun, StageRun
from tb.explain.run import Run
from tb.explain.walk import Walk

T = TypeVar("T")

STAGES = ("x1", "x2", "y")


def setting(**new: Any) -> Callable[[T], T]:
    """Return a function that copies a dataclass with other values of some fields."""
    return lambda value: replace(value, **new)  # type: ignore[type-var]


def first(run: Run) -> EngineRun:
    """Return the engine that reads the input: what runs alone, or hands its result to PDP."""
    return run.engine.producer if isinstance(run.engine, PooledRun) else run.engine


def with_first(run: Run, engine: EngineRun) -> Run:
    """Return the run with another engine that reads the input."""
    if isinstance(run.engine, PooledRun):
        assert isinstance(engine, SdpRun | ConvRun)
        engine = replace(run.engine, producer=engine)
    return replace(run, engine=engine)


def pooling(run: Run) -> PdpRun | None:
    """Return the PDP of a run, on the fly or from memory."""
    if isinstance(run.engine, PooledRun):
        return run.engine.pooling
    return run.engine if isinstance(run.engine, PdpRun) else None


def with_pooling(run: Run, pooled: PdpRun) -> Run:
    """Return the run with another PDP."""
    engine: EngineRun = replace(run.engine, pooling=pooled) if isinstance(run.engine, PooledRun) else pooled
    return replace(run, engine=engine)


def source(run: Run) -> Walk | None:
    """Return the walk through the input cube, None when there is none."""
    engine = first(run)
    if isinstance(engine, SdpRun | PdpRun | CdpRun | MoveRun):
        return engine.src
    if isinstance(engine, ConvRun) and isinstance(engine.source, CubeInput):
        return engine.source.walk
    return None


def with_source(run: Run, walk: Walk) -> Run:
    """Return the run with another walk through the input cube.

    Raises:
        InputError: for a run without one.
    """
    engine = first(run)
    if isinstance(engine, SdpRun | PdpRun | CdpRun | MoveRun):
        return with_first(run, replace(engine, src=walk))
    if isinstance(engine, ConvRun) and isinstance(engine.source, CubeInput):
        return with_first(run, replace(engine, source=replace(engine.source, walk=walk)))
    raise InputError("engine must read a feature cube")


def sdp_of(run: Run) -> SdpRun | None:
    """Return the SDP of a run, on the fly or from memory."""
    engine = first(run)
    if isinstance(engine, SdpRun):
        return engine
    return engine.sdp if isinstance(engine, ConvRun) else None


def with_sdp(run: Run, sdp: SdpRun) -> Run:
    """Return the run with another SDP."""
    engine = first(run)
    return with_first(run, replace(engine, sdp=sdp) if isinstance(engine, ConvRun) else sdp)


def stages(run: Run) -> Iterator[tuple[str, StageRun]]:
    """Yield the active stages of SDP by their names."""
    sdp = sdp_of(run)
    for name in STAGES:
        stage = None if sdp is None else getattr(sdp, name)
        if stage is not None:
            yield name, stage


def with_stage(run: Run, name: str, stage: StageRun | None) -> Run:
    """Return the run with another stage X1, X2 or Y, None for a bypassed one.

    Raises:
        InputError: for a run without SDP.
    """
    sdp = sdp_of(run)
    if sdp is None:
        raise InputError("engine must end in SDP")
    return with_sdp(run, setting(**{name: stage})(sdp))
