"""Every public layout begins with an example, and each example works as it is printed."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import numpy as np
import pytest

from nvdla_models import layout
from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision

LAYOUTS = sorted(name for name in vars(layout) if name.endswith("Layout") and name not in ("AtomCube", "KernelLayout"))


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_example_of_a_layout_packs_data(name: str) -> None:
    before, _, rest = (inspect.getdoc(vars(layout)[name]) or "").partition("::\n\n")
    assert before.count("\n\n") == 1, "the example comes right after the first line"
    lines = rest.splitlines()
    end = next(number for number, line in enumerate(lines) if line and not line.startswith(" "))
    names: dict[str, Any] = vars(layout) | {"np": np, "config": HwConfig.load("nv_full"), "Precision": Precision}
    exec(textwrap.dedent("\n".join(lines[:end])), names)
    assert type(names["layout"]).__name__ == name
    packed = names["packed"].weights if "packed" in names else names["data"]
    assert packed.dtype == np.uint8
    assert len(packed)
