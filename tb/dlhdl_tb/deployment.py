"""Deployment files, which hold the accesses that initialise a core for a network."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nvdla_models.errors import InputError

SUFFIX = ".dln"


def refuse(paths: Iterable[Path]) -> None:
    """Refuse deployment files, and say what lacks to play them.

    Raises:
        InputError: for a path that has their suffix.

    Source: "Initialize Deployed Deep Learning Processor Without Using a MATLAB Connection", whose section
    "Generated File Structure" was not at hand.
    """
    for path in paths:
        if path.suffix.lower() == SUFFIX:
            lacking = "order, width and meaning of the fields of a deployment file"
            raise InputError(f"{path}: {SUFFIX} files cannot be played; what lacks is the {lacking}")
