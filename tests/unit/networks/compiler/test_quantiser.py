"""Files that onnxruntime's static quantiser writes run on the accelerator and are near the file, in some modes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.unit.networks.compiler.classifiers import CLASSIFIERS

pytest.importorskip("onnxruntime")

from tests.quantiser import QUICK, Mode, check, name_of

_FEW = 16


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        pytest.param(mode, name, id=f"{name} {name_of(mode)}")
        for mode, name in zip(QUICK, itertools.cycle(CLASSIFIERS), strict=False)
    ],
)
def test_quantised_networks_run_on_the_accelerator_and_are_near_the_file(mode: Mode, name: str, tmp_path: Path) -> None:
    check(name, mode, tmp_path, _FEW)
