"""A package of somebody else adds commands, formats and systems; that of the guide as it is printed there."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_tb.cli.main import parser
from nvdla_tb.paths import PLANS
from nvdla_tb.run.nvdla import NVDLA
from nvdla_tb.run.systems import GROUP, added, folders, refuse, system_of
from tests.repository import ROOT
from tests.unit.conftest import Run

GUIDE = ROOT / "docs" / "extending.md"
FILE = re.compile(r"^`([\w./]+)`[^\n]*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)

SYSTEM = """
from pathlib import Path
from types import SimpleNamespace as Plain
from nvdla_models.errors import InputError
from nvdla_tb.run.system import System

class Config(Plain):
    pass

class Adder(System):
    name, config_type, top, entry_module = {name!r}, Config, "adder", "their_adder.entry"
    plan, folders = Path(__file__), (Path(__file__).parent,)

    def embedded(self):
        return (Config(name="adder_8"), Config(name="adder_16"))

    def load_config(self, name_or_path):
        return Config(name=Path(name_or_path).stem)

    def load_plan(self, path):
        return [Plain(name="carry", about="the longest carry")]

    def random_entry(self, config, seed, source): ...
    def save(self, scenario, folder): ...
    def read(self, folder, config): ...
    def filelist(self, config): ...
    def wrapper(self, config, top, ports, port_map, *, embedded, dump, native): ...
    def port_facts(self, config): ...

    def refuse(self, path):
        if path.suffix == ".add":
            raise InputError(f"{{path}}: sums cannot be played")

ADDER = Adder()
"""


def install(folder: Path, package: str, files: Mapping[str, str], groups: Mapping[str, Mapping[str, str]]) -> None:
    """Install a package of somebody else with its entry points in a folder of the path."""
    for module in [module for module in sys.modules if module.partition(".")[0] == package]:
        del sys.modules[module]
    (folder / package).mkdir()
    (folder / package / "__init__.py").touch()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    about = folder / f"{package}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in named.items()) for group, named in groups.items()]
    (about / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the package of the guide."""
    files = dict(FILE.findall(GUIDE.read_text(encoding="utf-8")))
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    install(tmp_path, "their_rows", files, project["entry-points"])
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a package that adds the system ``adder``."""
    install(
        tmp_path,
        "their_adder",
        {"their_adder/system.py": SYSTEM.format(name="adder")},
        {GROUP: {"adder": "their_adder.system:ADDER"}},
    )
    monkeypatch.syspath_prepend(tmp_path)
    added.cache_clear()
    yield tmp_path
    added.cache_clear()


def test_the_command_of_the_guide_runs(tb: Run, guide: Path) -> None:
    (guide / "memory.bin").write_bytes(bytes(256))
    assert tb(f"rows {guide / 'memory.bin'} 64") == (0, "4 rows\n", "")


def test_the_format_of_the_guide_describes_and_packs(tb: Run, guide: Path) -> None:
    words = "--format rows --shape 4,48 --gap 16"
    printed = f"`describe {words}` prints *4 rows of 48 bytes, one every 64*"
    assert printed in GUIDE.read_text(encoding="utf-8")
    assert tb(f"describe {words}") == (0, "4 rows of 48 bytes, one every 64\n", "")
    tensor = np.arange(192, dtype=np.uint8).reshape(4, 48)
    np.save(guide / "in.npy", tensor)
    assert tb(f"pack {guide / 'in.npy'} {guide / 'out.bin'} {words}").code == 0
    assert tb(f"unpack {guide / 'out.bin'} {guide / 'back.npy'} {words}").code == 0
    assert (guide / "out.bin").stat().st_size == 256
    np.testing.assert_array_equal(np.load(guide / "back.npy"), tensor, strict=True)
    assert "--gap must not be given for feature" in tb("describe --format feature --gap 1").err


def test_a_format_is_not_replaced_by_a_package(tb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = "from nvdla_tb.cli.layout_formats import FORMATS as OURS\n"
    files = {"their_cube/layouts.py": f'{ours}FORMATS = {{"feature": OURS["weight"]}}\n'}
    install(tmp_path, "their_cube", files, {"nvdla_tb.layouts": {"cube": "their_cube.layouts:FORMATS"}})
    monkeypatch.syspath_prepend(tmp_path)
    refusal = "formats must have names of their own; cube adds feature again"
    assert tb("describe --format feature").refusal == refusal


def test_a_system_of_somebody_else_lists_its_plan(tb: Run, system: Path) -> None:
    line = f"{'carry':45} the longest carry\n"
    assert tb("run --config adder --list") == (0, line, "")
    assert tb("run --config adder_8 --list") == (0, line, "")
    assert tb("regress plan --config adder").refusal.startswith("regress must be random for adder, not plan: ")


def test_a_configuration_belongs_to_the_system_that_its_file_names(system: Path) -> None:
    own, other = system / "own.toml", system / "other.toml"
    own.write_text('system = "adder"\n')
    other.write_text('system = "divider"\n')
    assert system_of(str(own)).name == system_of("adder_16").name == "adder"
    assert system_of("nv_small") is NVDLA
    names = ", ".join(known.name for known in added())
    with pytest.raises(InputError, match=rf"^{re.escape(str(other))}: system must be {names}, not divider$"):
        system_of(str(other))


def test_the_files_of_a_system_decide_what_results_are_evidence_of(system: Path) -> None:
    assert system / "their_adder" in folders()


def test_a_system_refuses_its_files_in_every_command(tb: Run, system: Path) -> None:
    with pytest.raises(InputError, match=r"^sum\.add: sums cannot be played$"):
        refuse([Path("sum.add")])
    assert tb("trace sum.add").refusal == "sum.add: sums cannot be played"


def test_a_system_is_not_replaced_by_a_package(system: Path) -> None:
    about = system / "their_adder-1.dist-info" / "entry_points.txt"
    (system / "their_adder" / "system.py").write_text(SYSTEM.format(name="nvdla"))
    about.write_text(f"[{GROUP}]\nagain = their_adder.system:ADDER\n")
    with pytest.raises(InputError, match=r"^systems must have names of their own; again adds nvdla again$"):
        added()


BROKEN = {
    "raise ImportError('no \\x1b[2J such thing')": r"ImportError: no \x1b[2J such thing",
    "raise SystemExit(3)": "SystemExit: 3",
    "THINGS = 3": "it must name {must}",
    "THINGS = {'more': 3}": "it must name {must}",
    "OTHERS = {}": "AttributeError: module 'their_broken' has no attribute 'THINGS'",
    "THINGS = (": "SyntaxError: '(' was never closed (__init__.py, line 1)",
}
MUST = {
    "nvdla_tb.commands": "a dictionary of Command",
    "nvdla_tb.layouts": "a dictionary of Format",
    "nvdla_tb.systems": "a System",
}
WORDS = {
    "nvdla_tb.commands": "configs nv_small",
    "nvdla_tb.layouts": "describe --format feature --precision int8 --shape 8,4,4",
    "nvdla_tb.systems": f"run --list --plan {PLANS / 'nv_small.toml'} --only sdp_x1_*",
}


@pytest.mark.parametrize("group", MUST)
@pytest.mark.parametrize("code", BROKEN)
def test_a_broken_package_is_named_on_one_line_and_the_command_goes_on(
    tb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, code: str
) -> None:
    right = tb(WORDS[group])
    assert (right.code, right.err) == (0, "")
    install(
        tmp_path, "their_broken", {"their_broken/__init__.py": f"{code}\n"}, {group: {"some": "their_broken:THINGS"}}
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("nvdla_tb.added._told", set())
    added.cache_clear()
    try:
        ran = tb(WORDS[group])
    finally:
        added.cache_clear()
    entry = f"entry point some of their_broken ({group} = their_broken:THINGS)"
    why = BROKEN[code].format(must=MUST[group])
    assert (ran.code, ran.out, ran.err) == (0, right.out, f"error: {entry} is left out: {why}\n")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise RuntimeError('not today')", "RuntimeError: not today"),
        ("def main(args): return 0", "AttributeError: module 'their_broken.lint' has no attribute 'add_arguments'"),
    ],
)
def test_a_broken_subcommand_of_a_package_is_named_when_it_is_chosen_and_stops_no_other(
    tb: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    code: str,
    why: str,
) -> None:
    commands = (
        "from nvdla_tb.cli.commands import Command\n"
        "THINGS = {'lint': Command('their_broken.lint', 'checks 100 % of the names', 'nvdla-tb lint')}\n"
    )
    files = {"their_broken/__init__.py": commands, "their_broken/lint.py": f"{code}\n"}
    install(tmp_path, "their_broken", files, {"nvdla_tb.commands": {"some": "their_broken:THINGS"}})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("nvdla_tb.added._told", set())
    assert tb("configs nv_small").err == ""
    assert "checks 100 % of the names" in tb("--help").out
    assert tb("lint").refusal == f"subcommand lint (their_broken.lint) cannot be used: {why}"
    capsys.readouterr()
    parser()
    assert capsys.readouterr().err == f"error: subcommand lint (their_broken.lint) is left out: {why}\n"


def test_a_package_that_exits_with_0_is_no_success(tb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = (
        "from nvdla_tb.cli.commands import Command\n"
        "THINGS = {'lint': Command('their_exit.lint', 'checks names', 'nvdla-tb lint')}\n"
    )
    lint = "import sys\ndef add_arguments(parser): pass\ndef main(args): sys.exit()\n"
    files = {"their_exit/__init__.py": commands, "their_exit/lint.py": lint}
    install(tmp_path, "their_exit", files, {"nvdla_tb.commands": {"some": "their_exit:THINGS"}})
    monkeypatch.syspath_prepend(tmp_path)
    assert tb("lint").refusal == "nvdla-tb lint was ended by a module that it loads: SystemExit: None"
