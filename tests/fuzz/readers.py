"""Every place of the bench that reads what somebody else wrote, in one list.

To add a reader, add one ``Reader`` to ``READERS``: a name, a function that returns valid samples as bytes, a function
that writes the bytes where the reader looks for them and calls it, and what mutates the samples: ``of_words`` for
text, ``of_bytes`` for anything else, or a function of your own for a format with checksums. The function must do all
that a command does with the file before anything is simulated. ``InputError`` is the only exception that it may raise.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from models.config import HwConfig
from models.errors import InputError
from models.layout import FeatureLayout, PixelLayout
from models.precision import Precision
from models.reading import parse_json
from tb.__main__ import parser
from tb.cli.layout_files import read_memory, read_tensor
from tb.cli.layout_formats import chosen
from tb.cli.layout_png import read_png
from tb.coverage.model import load_model
from tb.dlhdl.config import DlhdlConfig
from tb.dlhdl.registers import RegisterMap
from tb.dlhdl.scenario import FILE_NAME as SCENARIO_FILE
from tb.dlhdl.scenario import load_plan as load_dlhdl_plan
from tb.dlhdl.scenario import read as read_dlhdl
from tb.explain import record
from tb.explain.stages import load_stages
from tb.judge.text import complaints
from tb.judge.verdict import Ending
from tb.plain_data import converted
from tb.report.performance import read_cycles
from tb.run.compile import filelist
from tb.run.compile.ports import load_port_map
from tb.run.regress import bundle
from tb.run.regress.batch import Batch, read_settings
from tb.run.regress.code_coverage import read_counts
from tb.run.regress.features import load_feature_plan
from tb.run.regress.store import Store
from tb.run.result import Result
from tb.run.task import Task
from tb.stimulus.exchange import Answer
from tb.stimulus.generate.plan import load_plan
from tb.stimulus.model import play_model
from tb.stimulus.network.compiled import Compiled
from tb.stimulus.network.compiler.onnx_network import OnnxNetwork, random_samples
from tb.stimulus.network.compiler.reader import read_onnx
from tb.stimulus.network.images import Preparation, read_golden, read_input
from tb.stimulus.network.loadable import parse_loadable, read_loadable
from tb.stimulus.network.scenario import model_results, play_networks
from tb.stimulus.refusal import refusal
from tb.stimulus.trace import read
from tb.tools.score.catalogue import load_catalogue
from tb.tools.score.journal import Journal
from tests.fuzz import samples
from tests.fuzz.mutate import Mutate, of_arrays, of_bytes, of_header, of_json, of_words

CORE = DlhdlConfig.load("dlhdl_int8_4")
SMALL, FULL = HwConfig.load("nv_small"), HwConfig.load("nv_full")


PARSER = parser()


@dataclass(frozen=True)
class Reader:
    """One reader.

    Attributes:
        name: what tables call it.
        samples: valid inputs.
        read: writes an input into an empty folder of its own, which it may keep files in, and reads it.
        mutate: from a source of randomness and a sample to an input.
        weight: share of a long run's inputs: 1 for those of milliseconds, 12 for those of microseconds.
    """

    name: str
    samples: Callable[[], list[bytes]]
    read: Callable[[bytes, Path], object]
    mutate: Mutate = of_words
    weight: int = 4


def _file(name: str, load: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    """Return what writes an input to a file of that name and loads it."""

    def read_one(data: bytes, folder: Path) -> object:
        path = folder / name
        path.write_bytes(data)
        return load(path)

    return read_one


def _plan(config: HwConfig) -> Callable[[Path], None]:
    def load(path: Path) -> None:
        for entry in islice(load_plan(path), 2):
            refusal(entry.build(config, 1).ops, config)

    return load


def _core(data: bytes, folder: Path) -> None:
    (folder / "core_addr.h").write_bytes(samples.register_headers()[0])
    (folder / "core.toml").write_bytes(data)
    RegisterMap.load(DlhdlConfig.load(str(folder / "core.toml")).header)


def _dlhdl_plan(path: Path) -> None:
    for entry in islice(load_dlhdl_plan(path), 2):
        entry.build(CORE, 1)


def _dlhdl_scenario(data: bytes, folder: Path) -> None:
    (folder / SCENARIO_FILE).write_bytes(data)
    read_dlhdl(folder, CORE)


def _features(data: bytes, folder: Path) -> None:
    if not (folder / "coverage").is_dir():
        (folder / "coverage").mkdir()
        (folder / "coverage" / "sdp.toml").write_bytes(b'unit = "SDP"\n[points]\nwidth = ["1", "2.."]\nrelu = ["on"]\n')
        (folder / "plan.toml").write_bytes(samples.plans("nv_small")[0])
    path = folder / "features.toml"
    path.write_bytes(data)
    load_feature_plan(path, SMALL)


def _coverage(data: bytes, folder: Path) -> None:
    (folder / "unit.toml").write_bytes(data)
    model = load_model(folder, FULL)
    for _ in model.reachable():
        pass


def _cluster(path: Path) -> None:
    Batch("slurm", 1, "10.0.0.1", read_settings(path)).arguments()


def _trace(data: bytes, folder: Path) -> None:
    if not any(folder.iterdir()):
        for name, content in samples.trace_files().items():
            if name.endswith(".dat"):
                (folder / name).write_bytes(content)
    (folder / "trace.cfg").write_bytes(data)
    refusal(read(folder, SMALL).ops, SMALL)


def _data(data: bytes, folder: Path) -> None:
    path = folder / "memory.dat"
    path.write_bytes(data)
    read_memory(path, 1 << 20, None)


def _measured(path: Path) -> None:
    refusal(read(path, FULL).ops, FULL)


def _tensor(path: Path) -> None:
    FeatureLayout.packed(SMALL, Precision.INT8, (33, 4, 5)).pack(read_tensor(path))


def _image(path: Path) -> None:
    """Read it as the format that its colours call for."""
    colours = path.read_bytes()[24:26]
    name = {b"\x10\x00": "T_R16", b"\x08\x06": "T_A8R8G8B8"}.get(colours, "T_R8")
    layout = PixelLayout.packed(FULL, name, (4 if "A8" in name else 1, 4, 6), 0)
    layout.pack(read_png(path, layout.format, None), 0)


def _filelist(data: bytes, folder: Path) -> None:
    if not any(folder.iterdir()):
        for name in ("inc", "lib"):
            (folder / name).mkdir()
        for name in ("lib/cell.v", "top.v", "control.vlt"):
            (folder / name).touch()
        (folder / "nested.f").write_text("top.v\n", encoding="utf-8")
    path = folder / "list.f"
    path.write_bytes(data)
    filelist.parse(path, {"DIR": str(folder)})


def _bundle(data: bytes, folder: Path) -> None:
    (folder / bundle.BUNDLE_FILE).write_bytes(data)
    found = bundle.load(folder)
    found.dut.build_spec(waves=False)
    found.job()


def _seen(path: Path) -> None:
    seen, _ = record.load(path)
    list(seen.evidence(()))


def _store(data: bytes, folder: Path) -> None:
    """Enter rows as the input has them; what SQLite itself does not take was never a store."""
    path = folder / "store.sqlite"
    if not path.is_file():
        Store(path).__exit__(None, None, None)
    rows = converted(parse_json(data.decode("utf-8", "replace"), "rows"), dict[str, list[list[Any]]], "rows")
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        for table in samples.STORE_TABLES:
            database.execute(f"DELETE FROM {table}")
            for row in rows.get(table, ()):
                with contextlib.suppress(sqlite3.Error, OverflowError):
                    database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    with Store(path) as store:
        for run in store.runs():
            store.results(run)
            store.counts(run)
            store.coverage(run)
            store.durations(store.missing(run))
            store.latest(store.device(run))


def _answer(path: Path) -> None:
    answer = Answer.load(path)
    assert answer is not None
    complaints(answer.verdict)


def _result(path: Path) -> None:
    result = Result.load(path)
    assert result.ending in Ending
    complaints(result.verdict)


def _task(data: bytes, folder: Path) -> None:
    del folder
    Task.decode(data.decode("utf-8", "replace"))


def _journal(path: Path) -> None:
    Journal(path, samples.ABOUT, resume=True)


def _command(data: bytes, folder: Path) -> None:
    """Parse a command line, a word a line; a refusal of argparse is one message and exit code 2, too."""
    del folder
    words = data.decode("utf-8", "replace").split("\n")
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            args = PARSER.parse_args(words)
    except SystemExit as end:
        if end.code == 2:
            raise InputError("refused by argparse") from end
        return
    if args.command == "describe":
        _describe(args)


def _describe(args: argparse.Namespace) -> None:
    chosen(args, "describe").describe()


def _loadable(path: Path) -> None:
    """Read a network and play it on the model, as ``network --model-only`` does."""
    network = Compiled("copies", read_loadable(path), SMALL).place()
    playing = play_networks("copies", [network], [[None] * len(network.inputs)])
    played = play_model(playing.scenario, SMALL)
    if played.verdict.refused is None:
        model_results(played, playing, SMALL)


def _onnx(path: Path) -> None:
    """Read a network, compile it, and play it on the model, as ``network --model-only`` does."""
    graph = read_onnx(path)
    network = OnnxNetwork.compiled("tiny", graph, SMALL, random_samples(graph, 1, seed=0)).place()
    playing = play_networks("tiny", [network], [[None] * len(network.inputs)])
    played = play_model(playing.scenario, SMALL)
    if played.verdict.refused is None:
        model_results(played, playing, SMALL)


def _picture(path: Path) -> None:
    tensor = Compiled("copies", parse_loadable(samples.loadables()[0]), SMALL).place().inputs[0]
    read_input(path, replace(tensor, shape=samples.PICTURE_SHAPE), Preparation())


READERS = (
    Reader("configuration", samples.configurations, _file("own.toml", HwConfig.load)),
    Reader(
        "plan of nv_small",
        lambda: samples.plans("nv_small") + samples.varied_plans(),
        _file("plan.toml", _plan(SMALL)),
        weight=1,
    ),
    Reader("plan of nv_full", lambda: samples.plans("nv_full"), _file("plan.toml", _plan(FULL)), weight=1),
    Reader("core of DL HDL", samples.cores, _core),
    Reader("register header", samples.register_headers, _file("core_addr.h", RegisterMap.load)),
    Reader("plan of DL HDL", lambda: samples.plans("dlhdl"), _file("plan.toml", _dlhdl_plan), weight=1),
    Reader("scenario of DL HDL", samples.dlhdl_scenarios, _dlhdl_scenario, of_json, weight=1),
    Reader("feature plan", samples.features, _features),
    Reader("coverage model", samples.coverage_models, _coverage, weight=1),
    Reader("port map", samples.port_maps, _file("ports.toml", lambda path: load_port_map(path, SMALL))),
    Reader("stages", samples.stages, _file("stages.toml", load_stages)),
    Reader("score catalogue", samples.catalogues, _file("bugs.toml", load_catalogue)),
    Reader("score journal", samples.journals, _file("journal", _journal)),
    Reader("cluster settings", samples.clusters, _file("slurm.toml", _cluster)),
    Reader("trace", samples.traces, _trace, weight=1),
    Reader("trace data", samples.data_files, _data),
    Reader("measured layer", samples.measured, _file("sdp_layer.npz", _measured), of_arrays, weight=1),
    Reader("tensor", samples.tensors, _file("tensor.npy", _tensor), of_header),
    Reader("image", samples.images, _file("image.png", _image), of_bytes),
    Reader("filelist", samples.filelists, _filelist),
    Reader("bundle", samples.bundles, _bundle, of_json),
    Reader("record of a run", samples.seen, _file(record.FILE_NAME, _seen), of_arrays, weight=1),
    Reader("answer of a simulator", samples.answers, _file("result.json", _answer), of_json, weight=12),
    Reader("store", samples.stores, _store, of_json),
    Reader("result of a worker", samples.results, _file("result.json", _result), of_json, weight=12),
    Reader("task of a worker", samples.tasks, _task, of_json, weight=12),
    Reader("code coverage", samples.counted, _file("coverage.dat", read_counts), weight=12),
    Reader("loadable", samples.loadables, _file("network.nvdla", _loadable), of_bytes, weight=1),
    Reader("ONNX network", samples.onnx_networks, _file("network.onnx", _onnx), of_bytes, weight=1),
    Reader("picture", samples.pictures, _file("input.pgm", _picture), of_bytes),
    Reader("result of the runtime", samples.dumped, _file("result.dimg", read_golden), of_bytes, weight=12),
    Reader("cycles of an earlier run", samples.cycles, _file("run.json", read_cycles), of_json, weight=12),
    Reader("command line", samples.commands, _command),
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
