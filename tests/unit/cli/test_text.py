"""Files of the user that are no UTF-8 are refused in one line that names them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from models.config import HwConfig
from models.errors import InputError
from tb.coverage.model import load_model
from tb.explain.handovers import load_handovers
from tb.run.compile.ports import load_port_map
from tb.run.regress import bundle
from tb.run.regress.cluster import read_settings
from tb.run.regress.features import load_feature_plan
from tb.stimulus.generate.plan import load_plan

SMALL = HwConfig.load("nv_small")
READERS: dict[str, Callable[[Path], object]] = {
    "configuration": HwConfig.load,
    "plan": load_plan,
    "test plan": lambda path: load_feature_plan(path, SMALL),
    "coverage model": lambda path: load_model(path.parent, SMALL),
    "stages": load_handovers,
    "cluster settings": read_settings,
    "port map": lambda path: load_port_map(path, SMALL),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_file_in_another_encoding_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes("# größer\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"^.*latin\.toml:1: text must be UTF-8, not byte 0xf6$"):
        READERS[kind](path)


def test_a_bundle_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / bundle.BUNDLE_FILE).write_bytes('{"ö": 1}'.encode("latin-1"))
    with pytest.raises(
        InputError, match=r" must be a failure bundle with bundle\.json: .*:1: text must be UTF-8, not byte 0xf6$"
    ):
        bundle.load(tmp_path)
