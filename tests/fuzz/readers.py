"""Every place of the bench that reads what somebody else wrote, in one list.

To add a reader, add one ``Reader`` to ``READERS``: a name, the file that it reads, a function that returns valid
samples, a function that reads the file, and what mutates the samples: ``of_words`` for text, ``of_bytes`` for anything
else, or a function of your own for a format with checksums. It must do all that a command does with the file before
anything is simulated. ``InputError`` is the only exception that it may raise.
"""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from dlhdl_tb.config import EMBEDDED_HEADER, PLAN, DlhdlConfig
from dlhdl_tb.registers import RegisterMap
from dlhdl_tb.scenario import FILE_NAME as SCENARIO_FILE
from dlhdl_tb.scenario import load_plan as load_dlhdl_plan
from dlhdl_tb.scenario import read as read_dlhdl
from nvdla_models.config import BUILTIN_DIR, HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout import FeatureLayout, PixelLayout
from nvdla_models.precision import Precision
from nvdla_models.reading import parse_json
from nvdla_networks.compiled import Compiled
from nvdla_networks.compiler.cut import cut_model
from nvdla_networks.compiler.onnx_network import OnnxNetwork
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.images import Preparation, read_golden, read_input
from nvdla_networks.loadable import parse_loadable, read_loadable
from nvdla_networks.network import Network
from nvdla_networks.scenario import play_networks, results_of
from nvdla_score.catalogue import load_catalogue
from nvdla_score.journal import Journal, Played
from nvdla_tb.array_files import read_array
from nvdla_tb.cli.layout_files import read_memory, read_png
from nvdla_tb.cli.layout_formats import chosen
from nvdla_tb.cli.main import parser
from nvdla_tb.coverage.model import load_model, model_of
from nvdla_tb.explain import record
from nvdla_tb.explain.handovers import load_handovers
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.paths import HDL, PLANS, PROJECT_FILE
from nvdla_tb.plain_data import converted
from nvdla_tb.report import failures, performance
from nvdla_tb.report.performance import read_cycles
from nvdla_tb.report.summary import counts_line, endings
from nvdla_tb.run import project
from nvdla_tb.run.compile import filelist
from nvdla_tb.run.compile.ports import load_port_map
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.explained import explain_folder
from nvdla_tb.run.regress import bundle
from nvdla_tb.run.regress.batch import Batch, read_settings
from nvdla_tb.run.regress.code_coverage import read_counts
from nvdla_tb.run.regress.features import load_feature_plan
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.refusal import refusal
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.trace import read
from tests.fuzz import samples
from tests.fuzz.mutate import Mutate, of_arrays, of_bytes, of_header, of_json, of_words
from tests.fuzz.structure import of_structure
from tests.unit.networks.compiler.playing import graph_of, random_samples

CORE = DlhdlConfig.load("dlhdl_int8_4")
SMALL, FULL = HwConfig.load("nv_small"), HwConfig.load("nv_full")


PARSER = parser()


@dataclass(frozen=True)
class Reader:
    """One reader.

    Attributes:
        name: what tables call it.
        file_name: the file that it reads.
        samples: valid inputs.
        load: reads the file, in a folder of its own.
        mutate: from a source of randomness and a sample to an input.
        weight: share of a long run's inputs: 1 for those of milliseconds, 12 for those of microseconds.
        beside: other files of the folder by their names.
    """

    name: str
    file_name: str
    samples: Callable[[], list[bytes]]
    load: Callable[[Path], object]
    mutate: Mutate = of_words
    weight: int = 4
    beside: Callable[[], Mapping[str, bytes]] = dict

    def read(self, data: bytes, folder: Path) -> None:
        """Write an input into a folder, and read it."""
        path = folder / self.file_name
        if not path.exists():
            for name, content in self.beside().items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(content)
        path.write_bytes(data)
        self.load(path)


def _plan(config: HwConfig) -> Callable[[Path], None]:
    def load(path: Path) -> None:
        for entry in islice(load_plan(path), 2):
            refusal(entry.build(config, 1).ops, config)

    return load


def _core(path: Path) -> None:
    RegisterMap.load(DlhdlConfig.load(str(path)).header)


def _dlhdl_plan(path: Path) -> None:
    for entry in islice(load_dlhdl_plan(path), 2):
        entry.build(CORE, 1)


def _coverage(path: Path) -> None:
    for _ in load_model(path.parent, FULL).reachable():
        pass


def _cluster(path: Path) -> None:
    Batch("slurm", 1, "10.0.0.1", read_settings(path)).arguments()


def _trace(path: Path) -> None:
    refusal(read(path.parent, SMALL).ops, SMALL)


def _txn(path: Path) -> None:
    refusal(read(path.parent, FULL).ops, FULL, golden=True)


def _tensor(path: Path) -> None:
    FeatureLayout.packed(SMALL, Precision.INT8, (33, 4, 5)).pack(read_array(path))


def _image(path: Path) -> None:
    """Read it as the format that its colours call for."""
    colours = path.read_bytes()[24:26]
    name = {b"\x10\x00": "T_R16", b"\x08\x06": "T_A8R8G8B8"}.get(colours, "T_R8")
    layout = PixelLayout.packed(FULL, name, (4 if "A8" in name else 1, 4, 6), 0)
    layout.pack(read_png(path, layout.format, None), 0)


def _bundle(path: Path) -> None:
    found = bundle.load(path.parent)
    build_spec(found.dut, waves=False)
    found.job()


def _seen(path: Path) -> None:
    found = record.read_record(path)
    list(record.seen_of(found, HwConfig.load(found.config)).evidence([]))


def _store(rows_path: Path) -> None:
    """Enter rows as the input has them; what SQLite itself does not take was never a store."""
    path = rows_path.with_name("store.sqlite")
    if not path.is_file():
        Store(path).__exit__(None, None, None)
    text = rows_path.read_text(encoding="utf-8", errors="replace")
    rows = converted(parse_json(text, "rows"), dict[str, list[list[Any]]], "rows")
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        for table in samples.STORE_TABLES:
            database.execute(f"DELETE FROM {table}")
            for row in rows.get(table, ()):
                with contextlib.suppress(sqlite3.Error, OverflowError):
                    database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    with Store(path) as store:
        for run in store.runs():
            _rendered(store.results(run))
            store.counts(run)
            store.coverage(run)
            store.durations(store.missing(run))
            store.latest(run)


def _explained(path: Path) -> None:
    explain_folder(path.parent)


def _rendered(results: list[Result]) -> None:
    """Render results as the commands that show a store do."""
    counts_line(endings(results))
    failures.whole(results)
    for result in results:
        performance.table(performance.layers_of(result.layers))
        [layer.to_dict() for layer in performance.layers_of(result.layers)]


def _result(path: Path) -> None:
    result = Result.load(path)
    assert result.ending in Ending
    _rendered([result])
    complaints(result.verdict)


def _task(path: Path) -> None:
    Task.decode(path.read_text(encoding="utf-8", errors="replace"))


def _command(path: Path) -> None:
    """Parse a command line, a word a line; a refusal of argparse is one message and exit code 2, too."""
    words = path.read_bytes().decode("utf-8", "replace").split("\n")
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            args = PARSER.parse_args(words)
    except SystemExit as end:
        if end.code == 2:
            raise InputError("refused by argparse") from end
        return
    if args.command == "describe":
        chosen(args, "describe").describe()


def _loadable(path: Path) -> None:
    _network(Compiled("copies", read_loadable(path), SMALL).place())


def _onnx(path: Path) -> None:
    graph = graph_of(path.read_bytes())
    _network(OnnxNetwork.compiled("tiny", graph, SMALL, random_samples(graph, 1, seed=0)).place())


def _cut(path: Path) -> None:
    cut_model(prepared(fixed(path.read_bytes())))


def _network(network: Network) -> None:
    """Play a network on the model, as ``network --model-only`` does."""
    playing = play_networks("fuzz", [network], [[None] * len(network.inputs)])
    played = play_model(playing.scenario, SMALL)
    if played.verdict.refused is None:
        results_of(played, playing)


def _picture(path: Path) -> None:
    tensor = Compiled("copies", parse_loadable(samples.loadables()[0]), SMALL).place().inputs[0]
    read_input(path, replace(tensor, shape=samples.PICTURE_SHAPE), Preparation())


READERS = (
    Reader("configuration", "own.toml", partial(samples.texts, "*.toml", BUILTIN_DIR), HwConfig.load),
    Reader("plan of nv_small", "plan.toml", samples.small_plans, _plan(SMALL), weight=1),
    Reader("plan of nv_full", "plan.toml", partial(samples.plans, PLANS / "nv_full.toml"), _plan(FULL), weight=1),
    Reader("core of DL HDL", "core.toml", samples.cores, _core, beside=samples.beside_cores),
    Reader("register header", "core_addr.h", lambda: [EMBEDDED_HEADER.read_bytes()], RegisterMap.load),
    Reader("plan of DL HDL", "plan.toml", partial(samples.plans, PLAN), _dlhdl_plan, weight=1),
    Reader(
        "scenario of DL HDL", SCENARIO_FILE, samples.dlhdl_scenarios, lambda p: read_dlhdl(p.parent, CORE), of_json, 1
    ),
    Reader(
        "feature plan",
        "features.toml",
        partial(samples.texts, "features.toml"),
        lambda path: load_feature_plan(path, model_of("nv_small")),
        beside=samples.beside_features,
    ),
    Reader("coverage model", "unit.toml", partial(samples.texts, "*.toml", PLANS / "coverage"), _coverage, weight=1),
    Reader("port map", "ports.toml", partial(samples.texts, "ports*.toml"), lambda path: load_port_map(path, SMALL)),
    Reader("stages", "stages.toml", partial(samples.texts, "*.toml", HDL / "handovers"), load_handovers),
    Reader("score catalogue", "bugs.toml", samples.catalogues, load_catalogue),
    Reader(
        "score journal", "journal", samples.journals, lambda path: Journal(path, samples.ABOUT, Played, resume=True)
    ),
    Reader("cluster settings", "slurm.toml", partial(samples.texts, "slurm*.toml"), _cluster),
    Reader("trace", "trace.cfg", samples.traces, _trace, weight=1, beside=samples.beside_traces),
    Reader("trace of nv_full", "input.txn", samples.txn_traces, _txn, weight=1, beside=samples.beside_txn),
    Reader("options of a trace", "plusargs.txt", samples.plusargs, _txn, beside=samples.beside_plusargs, weight=12),
    Reader("lines of memory", "memory.dat", samples.memory_lines, lambda path: read_memory(path, 1 << 20, None)),
    Reader("trace data", "memory.dat", samples.data_files, lambda path: read_memory(path, 1 << 20, None)),
    Reader("tensor", "tensor.npy", samples.tensors, _tensor, of_header),
    Reader("image", "image.png", samples.images, _image, of_bytes),
    Reader(
        "filelist",
        "list.f",
        partial(samples.texts, "list.f"),
        lambda path: filelist.parse(path, {"DIR": str(path.parent)}),
        beside=samples.beside_filelists,
    ),
    Reader("bundle", bundle.BUNDLE_FILE, samples.bundles, _bundle, of_json),
    Reader("record of a run", record.FILE_NAME, samples.seen, _seen, of_arrays, weight=1),
    Reader("project file", PROJECT_FILE, samples.projects, lambda path: project.found(path.parent), weight=12),
    Reader(
        "explained folder",
        record.FILE_NAME,
        samples.seen,
        _explained,
        of_arrays,
        weight=1,
        beside=samples.beside_record,
    ),
    Reader("answer of a simulator", "result.json", samples.answers, _result, of_json, weight=12),
    Reader("store", "rows.json", samples.stores, _store, of_json),
    Reader("result of a worker", "result.json", samples.results, _result, of_json, weight=12),
    Reader("task of a worker", "task.json", samples.tasks, _task, of_json, weight=12),
    Reader("code coverage", "coverage.dat", partial(samples.texts, "coverage.dat"), read_counts, weight=12),
    Reader("loadable", "network.nvdla", samples.loadables, _loadable, of_bytes, weight=1),
    Reader("ONNX network", "network.onnx", samples.onnx_networks, _onnx, of_bytes, weight=1),
    Reader("ONNX file to cut", "network.onnx", samples.onnx_networks, _cut, of_structure, weight=1),
    Reader("picture", "input.pgm", samples.pictures, _picture, of_bytes),
    Reader("result of the runtime", "result.dimg", samples.dumped, read_golden, of_bytes, weight=12),
    Reader("cycles of an earlier run", "run.json", samples.cycles, read_cycles, of_json, weight=12),
    Reader("command line", "words", samples.commands, _command),
)


def by_name(name: str) -> Reader:
    """Return a reader.

    Raises:
        InputError: when there is none.
    """
    for reader in READERS:
        if reader.name == name:
            return reader
    raise InputError(f"reader must be one of {json.dumps([reader.name for reader in READERS])}, not {name}")
