"""Identity of a hardware layer in a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

L = TypeVar("L", covariant=True)


class LayerId(msgspec.Struct, frozen=True):
    """Identity of a hardware layer: ``index`` counts all layers of a run from 0, ``cube`` those of a batch.

    ``frame`` is the input frame of a system that plays the same layers for each frame; None in other systems.
    """

    index: int
    engine: str
    group: int
    cube: int = 0
    cubes: int = 1
    frame: int | None = None

    @property
    def name(self) -> str:
        """The name of the layer in messages."""
        if self.frame is not None:
            return f"layer {self.index} ({self.engine}, frame {self.frame})"
        cube = f", cube {self.cube}" if self.cubes > 1 else ""
        return f"layer {self.index} ({self.engine}, group {self.group}{cube})"


@dataclass(frozen=True)
class Started(Generic[L]):
    """A layer that hardware will run next; the other fields are those of its ``LayerId``."""

    index: int
    engine: str
    group: int
    layer: L
    cube: int = 0
    cubes: int = 1
    frame: int | None = None

    @property
    def id(self) -> LayerId:
        """The identity of the layer in findings."""
        return LayerId(self.index, self.engine, self.group, self.cube, self.cubes, self.frame)

    @property
    def name(self) -> str:
        """The name of the layer in messages."""
        return self.id.name
