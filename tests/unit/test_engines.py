"""Every room knows every engine, and the guide lists all files that a new one touches."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.coverage.attributes import NOT_COVERED, UNITS
from nvdla_tb.explain.build import RUNS
from nvdla_tb.judge.predictor import BUFFERED, FROM_MEMORY
from nvdla_tb.nvdla import layers
from nvdla_tb.nvdla.engines import CDP, ENGINES, Chain, Engine, engines_of
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.stimulus.generate.engines import GENERATORS
from nvdla_tb.stimulus.generate.random import ENGINES as RANDOM
from tests.repository import ROOT

GUIDE = ROOT / "docs" / "extending.md"
BY_NAME: dict[str, Container[str]] = {
    "tb/nvdla_tb/stimulus/generate/engines.py": GENERATORS,
    "tb/nvdla_tb/coverage/attributes/__init__.py": (*UNITS, *NOT_COVERED),
}
BY_LAYER: dict[str, Container[type[Layer]]] = {
    "tb/nvdla_tb/nvdla/layers/__init__.py": [layer for layer in get_args(Layer) if hasattr(layers, layer.__name__)],
    "tb/nvdla_tb/judge/predictor/__init__.py": (*FROM_MEMORY, *BUFFERED),
    "tb/nvdla_tb/explain/build.py": RUNS,
}


def lacking(engines: Sequence[Engine]) -> list[str]:
    """Return which file lacks which engine, or which type of its layers."""
    by_name = [f"{file} lacks {e.name}" for file, known in BY_NAME.items() for e in engines if e.name not in known]
    return by_name + [
        f"{file} lacks {layer.__name__} of {engine.name}"
        for file, known in BY_LAYER.items()
        for engine in engines
        for layer in engine.layers
        if layer not in known
    ]


def test_every_room_knows_every_engine() -> None:
    assert lacking(ENGINES) == []


def test_a_new_engine_is_missed_in_every_room() -> None:
    @dataclass(frozen=True)
    class XyzLayer(layers.CdpLayer):
        pass

    (chain,) = CDP.chains
    new = Engine("XYZ", (Chain("XYZ", ("XYZ",), "XYZ", XyzLayer, chain.coding),))
    assert lacking((*ENGINES, new)) == [
        *(f"{file} lacks XYZ" for file in BY_NAME),
        *(f"{file} lacks XyzLayer of XYZ" for file in BY_LAYER),
    ]


def test_random_scenarios_draw_from_all_engines_in_the_order_of_the_registry() -> None:
    assert tuple(engine.name for engine in ENGINES) == RANDOM


def test_each_type_of_layer_is_ended_by_one_engine() -> None:
    ended = [layer for engine in ENGINES for layer in engine.layers]
    assert len(ended) == len(set(ended))
    assert set(ended) == set(get_args(Layer))


@pytest.mark.parametrize("config", ["nv_small", "nv_full"])
def test_an_engine_counts_in_registers_that_exist(config: str) -> None:
    registers = RegisterMap.of(HwConfig.load(config))
    for engine in engines_of(HwConfig.load(config)):
        for unit, names in engine.counters.items():
            assert [registers.register(unit, name).writable for name in names] == [0] * len(names)
        for unit, word in engine.counting.items():
            enable = registers.register(unit, "D_PERF_ENABLE")
            assert word & ~enable.writable == 0


def test_a_configuration_has_the_engines_whose_units_it_has() -> None:
    assert [engine.name for engine in engines_of(HwConfig.load("nv_small"))] == ["SDP", "PDP", "CDP", "CONV"]
    assert engines_of(HwConfig.load("nv_full")) == ENGINES


def listed() -> dict[str, str]:
    """Return the files and folders of the guide's tables, as it spells them, with the heading that they are under."""
    found: dict[str, str] = {}
    heading = ""
    for line in GUIDE.read_text(encoding="utf-8").partition("## A new engine")[2].splitlines():
        if line.startswith("##"):
            heading = line.lstrip("# ")
        elif line.startswith("| `"):
            found |= dict.fromkeys(re.findall(r"`([^`]+)`", line.split("|")[1]), heading)
    return found


def code_of(path: Path) -> Iterator[str]:
    """Yield names and texts of a module's code, without its documentation."""
    start = True
    for token in tokenize.tokenize(io.BytesIO(path.read_bytes()).readline):
        if token.type == tokenize.NAME or (token.type == tokenize.STRING and not start):
            yield token.string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            start = token.type in (tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


@cache
def modules() -> dict[str, list[str]]:
    """Return the code of all modules."""
    paths = [path for top in ("tb", "models") for path in (ROOT / top).rglob("*.py")]
    return {str(path.relative_to(ROOT)): list(code_of(path)) for path in paths}


def files_with(engine: str) -> set[str]:
    """Return the modules whose code knows an engine by name."""
    known = re.compile(rf"(?i)(?<![a-z]){engine}(?![a-z])|{engine.capitalize()}[A-Z]")
    return {file for file, texts in modules().items() if any(known.search(text) for text in texts)}


def test_files_of_the_guide_exist() -> None:
    missing = []
    for spelt in listed():
        at = ROOT / spelt.replace("xyz", "cdp")
        if not at.exists():
            missing.append(spelt)
    assert missing == []


@pytest.mark.parametrize("heading", ["Its own files", "Entries in other rooms", "Facts about the hardware"])
def test_every_part_of_the_guide_lists_files(heading: str) -> None:
    assert heading in listed().values()


def test_the_guide_lists_every_table_that_is_checked() -> None:
    assert (BY_NAME.keys() | BY_LAYER.keys()) <= listed().keys()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["cdp", "rubik"])
def test_a_file_that_knows_an_engine_is_in_the_guide(engine: str) -> None:
    entries = {spelt.replace("xyz", engine) for spelt in listed()} | {"tb/nvdla_tb/nvdla/engines.py"}
    stems = tuple(entry.removesuffix(".py") for entry in entries)
    assert {file for file in files_with(engine) if not file.startswith(stems)} == set()


@pytest.mark.slow
def test_a_file_that_the_guide_lacks_is_seen() -> None:
    assert "tb/nvdla_tb/nvdla/engines.py" in files_with("cdp")
    assert "tb/nvdla_tb/judge/scoreboard.py" not in files_with("cdp")


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('"""CDP."""\nx = 1  # CDP', ["x"]),
        ('def f():\n    """CDP."""\n    return "CDP"', ["def", "f", "return", '"CDP"']),
        ('x = {\n    "CDP": 1,\n}', ["x", '"CDP"']),
    ],
)
def test_code_is_told_from_documentation(tmp_path: Path, source: str, texts: list[str]) -> None:
    path = tmp_path / "module.py"
    path.write_text(source, encoding="utf-8")
    assert list(code_of(path)) == texts
