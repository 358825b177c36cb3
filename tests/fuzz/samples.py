"""Small valid files of every kind, from which mutations start."""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image

from dlhdl_tb.config import EMBEDDED, EMBEDDED_HEADER, PLAN, DlhdlConfig
from dlhdl_tb.scenario import load_plan as load_dlhdl_plan
from networks import random_networks
from nvdla_networks.compiled import Compiled
from nvdla_networks.images import write_dimg
from nvdla_networks.loadable import parse_loadable
from nvdla_score.catalogue import BUGS_FILE
from nvdla_score.journal import Catch, Journal, Played
from nvdla_tb.explain import record
from nvdla_tb.explain.seen import Seen
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.paths import PLANS
from nvdla_tb.run.regress import bundle
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.explained import Explained, ExplainedLayer, Pointed, Traits
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.result import Dut, Performance, Result
from nvdla_tb.stimulus.trace import write
from tests.repository import ROOT
from tests.unit.explain import cases
from tests.unit.explain.test_runs import played
from tests.unit.networks.compiler.test_layouts import File, classifier
from tests.unit.networks.loadables import copying, residual
from tests.unit.nvdla.samples import SMALL
from tests.unit.run.regress.tasks import hang, wrong
from tests.unit.stimulus.trace import txn_files

TEXTS = ROOT / "tests" / "fuzz" / "texts"
TASK = Task("random", 7, "random", "SDP,PDP", Dut("nv_small", "verilator"), "again")
VERDICT = Verdict(judged_bytes=8, cycles=900, findings=[wrong(), hang("SDP")])
RESULT = msgspec.structs.replace(TASK.result(VERDICT, 1.5, Path("gone")), coverage={"SDP.height=1": 3})
PICTURE_SHAPE = (1, 2, 3)
ABOUT = {"model": "x", "seed": 1}


def texts(pattern: str, folder: Path = TEXTS) -> list[bytes]:
    """Return the files of a folder whose names match a pattern, TOML without comments."""
    paths = sorted(folder.glob(pattern))
    return [_bare(path.read_text(encoding="utf-8")) if path.suffix == ".toml" else path.read_bytes() for path in paths]


def plans(path: Path) -> list[bytes]:
    """Return a plan cut into plans of one scenario each, those with large cubes left out."""
    text = path.read_text(encoding="utf-8")
    head, *scenarios = text.split("[[scenario]]")
    return [_bare(f"{head}[[scenario]]{scenario}") for scenario in scenarios if len(scenario) < 1500][:80]


def small_plans() -> list[bytes]:
    """Return plans of nv_small, and one with variants and a layer of each value."""
    return [*plans(PLANS / "nv_small.toml"), *texts("plan_varied.toml")]


def cores() -> list[bytes]:
    """Return configurations of a Deep Learning HDL processor."""
    text = 'system = "dlhdl"\nconv_thread_number = {}\ndata_type = "{}"\nregisters = "core_addr.h"\n'
    return [text.format(number, kind.value).encode() for kind, number in EMBEDDED]


def beside_cores() -> dict[str, bytes]:
    """Return the header that they name."""
    return {"core_addr.h": EMBEDDED_HEADER.read_bytes()}


def dlhdl_scenarios() -> list[bytes]:
    """Return the file of each scenario of the plan, as a launcher saves it for a simulator."""
    core = DlhdlConfig.load("dlhdl_int8_4")
    entries = load_dlhdl_plan(PLAN)
    saved = [{"name": entry.name, "config": core.name, "seed": 1, "described": entry.data} for entry in entries]
    return [json.dumps(one).encode() for one in saved]


def beside_features() -> dict[str, bytes]:
    """Return what it names."""
    unit = b'unit = "SDP"\n[points]\nwidth = ["1", "2.."]\nrelu = ["on"]\n'
    return {"coverage/sdp.toml": unit, "plan.toml": plans(PLANS / "nv_small.toml")[0]}


def catalogues() -> list[bytes]:
    """Return the head of the score's catalogue with a few bugs each."""
    text = BUGS_FILE.read_text(encoding="utf-8")
    head, *groups = text.split("[bugs.")
    return [_bare(head + "[bugs." + group) for group in groups[:10]]


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="nvdla-fuzz-") as name:
        yield Path(name)


@cache
def trace_files() -> dict[str, bytes]:
    """Return the files of a written trace by their names."""
    with _folder() as folder:
        write(load_plan(PLANS / "nv_small.toml")[0].build(SMALL, 1), folder)
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def traces() -> list[bytes]:
    """Return the text of that trace, and one of the commands that it lacks."""
    text = next(data for name, data in trace_files().items() if name.endswith(".cfg"))
    name = next(iter(beside_traces())).encode()
    other = (
        b'mem_init(pri_mem, 0x80000000, 0x1000, ALL_ZERO);\nmem_load(pri_mem, 0x80000000, "' + name + b'");\n'
        b"reg_write(NVDLA_SDP.D_DATA_CUBE_WIDTH_0, 0x7);\nreg_read(SDP.S_STATUS, value);\n"
        b"reg_read_expected(0x9004, 0x1);\npoll_reg_equal(NVDLA_GLB.S_INTR_STATUS_0, 0x1);\n"
        b"poll_field_not_equal(GLB.S_INTR_STATUS, sdp_done_status0, 1);\nintr_notify(SDP_0, done);\n"
        b"sync_wait(NVDLA_SDP, done);\nsync_notify(SDP, other);\n"
        b"check_crc(done, pri_mem, 0x80000000, 0x100, 0x12345678);\ncheck_nothing(done);\n"
        b'check_file(done, pri_mem, 0x80000000, 0x1000, "' + name + b'");\n'
    )
    return [text, other]


def beside_traces() -> dict[str, bytes]:
    """Return the data that it loads."""
    return {name: data for name, data in trace_files().items() if name.endswith(".dat")}


def txn_traces() -> list[bytes]:
    """Return traces of the public project's default branch: a layer with its golden bytes, and every other command."""
    layer = (
        "load_mem 0x80200000 0xc0 in.dat # a comment",
        *txn_files.pass_on(),
        *("wait", "read_reg 0xffff0003 0x1 0x1", "write_reg 0xffff0003 0xffffffff", "dump_mem 0x80800000 0xc0 in.dat"),
    )
    other = (
        *(
            "read_reg 0xffff1401 0x00010001 >= 0x0",
            "read_reg 0xffff1401 0x1 <= 0x1 10",
            "load_mem 0x50000000 0x20 in.dat",
        ),
        *("write_mem 0x80000000 0x11223344", "read_mem 0x80000000 0x44", "read_mem 0x80000000 0xff 0x44", "wait"),
    )
    return ["".join(f"{line}\n" for line in lines).encode() for lines in (layer, other)]


def beside_txn() -> dict[str, bytes]:
    """Return the memory that they load and compare."""
    return {"in.dat": txn_files.lines(txn_files.DATA).encode()}


def plusargs() -> list[bytes]:
    """Return options of such a trace."""
    return [b"+read_reg_poll_retries=10 +continue_on_fail\n", b"+read_reg_poll_interval_clocks=100 # one\n+other=1\n"]


def beside_plusargs() -> dict[str, bytes]:
    """Return the trace that they belong to."""
    return {"input.txn": b"wait\n"}


def memory_lines() -> list[bytes]:
    """Return memory files of such a trace."""
    return [txn_files.lines(txn_files.DATA).encode(), b"W=8\n0x01 0x02\n"]


def data_files() -> list[bytes]:
    """Return memory surface files."""
    own = list(beside_traces().values())[:2]
    return [b"{offset:0x0, size:4, payload:0x00 0x10 0x20 0x30},\n{offset:0x4, size:2, payload:0x1 0x2}\n", *own]


def tensors() -> list[bytes]:
    """Return arrays."""
    arrays = (
        np.arange(33 * 4 * 5, dtype=np.int8).reshape(33, 4, 5),
        np.asfortranarray(np.zeros((33, 4, 5), np.int8)),
        np.zeros((33, 4, 5), np.int8)[:, ::-1],
    )
    return [_saved(partial(np.save, arr=array)) for array in arrays]


def images() -> list[bytes]:
    """Return PNG files of the modes that pixel formats have."""
    arrays = (np.zeros((4, 6), np.uint8), np.zeros((4, 6), np.uint16), np.zeros((4, 6, 4), np.uint8))
    return [_saved(partial(Image.fromarray(array).save, format="PNG")) for array in arrays]


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def beside_filelists() -> dict[str, bytes]:
    """Return what it names."""
    return {"inc/a.vh": b"", "lib/cell.v": b"", "top.v": b"", "control.vlt": b"", "nested.f": b"top.v\n"}


def bundles() -> list[bytes]:
    """Return the file of a bundle."""
    with _folder() as folder:
        bundle.write(folder, TASK, RESULT)
        return [(folder / bundle.BUNDLE_FILE).read_bytes()]


def results() -> list[bytes]:
    """Return the result of a worker."""
    return [RESULT.encode()]


def tasks() -> list[bytes]:
    """Return the task of a worker."""
    return [TASK.encode().encode()]


def answers() -> list[bytes]:
    """Return the answer of a simulator."""
    layer = ExplainedLayer(
        "a", 8, ["b"], ["c"], ["d"], "e", ["dst-base"], ["dst-base"], traits=Traits(1, {"f": (1, 2)}, 3)
    )
    why = Explained([layer], [Pointed("SDP", ["SDP"])], ["g"], ["h"], ["SDP"], ["MEMORY"])
    dut = Dut("nv_small", "verilator")
    return [Result("a", 1, dut, "again", VERDICT, performance=Performance(9.5, 0.5, 1 << 20), explained=why).encode()]


def seen() -> list[bytes]:
    """Return the record of a failed run."""
    scoreboard = played(cases.copy_layer(), wrong=0, moved=16)
    with _folder() as folder:
        record.save(folder / record.FILE_NAME, Seen.of(scoreboard), SMALL, "nv_small")
        return [(folder / record.FILE_NAME).read_bytes()]


def beside_record() -> dict[str, bytes]:
    """Return the scenario of that run."""
    return {f"{record.SCENARIO_FOLDER}/{name}": data for name, data in trace_files().items()}


def projects() -> list[bytes]:
    """Return project files with every key."""
    keys = {"rtl": "my.f", "top": "NV_nvdla", "config": "nv_small", "port_map": "ports.toml", "sim": "verilator"}
    folders = {"results": "sim_build", "cache": "/scratch/models"}
    lists = {"plans": ["nv_small", "nvdla-*.toml"], "tests": ["nvdla-tb.toml"]}
    return [b"".join(f"{key} = {json.dumps(value)}\n".encode() for key, value in (keys | folders | lists).items())]


def stores() -> list[bytes]:
    """Return the rows of a store as JSON, which ``readers`` enters into one: the file itself is SQLite's matter."""
    with _folder() as folder:
        with Store(folder / "store.sqlite") as store:
            run = store.start("fuzz", [TASK])
            store.add(run, RESULT)
        with closing(sqlite3.connect(folder / "store.sqlite")) as database:
            rows = {table: database.execute(f"SELECT * FROM {table}").fetchall() for table in STORE_TABLES}
    return [json.dumps(rows, indent=1).encode()]


STORE_TABLES = ("runs", "tasks", "results", "coverage")


def journals() -> list[bytes]:
    """Return the journal of a score."""
    with _folder() as folder:
        journal = Journal(folder / "journal", ABOUT, Played, resume=False)
        journal.add("one", Played(3, None, 1.5))
        journal.add("two", Played(1, Catch("a.1", 1, (Check.VALUE,), None, None, ""), 0.5))
        return [(folder / "journal").read_bytes()]


def loadables() -> list[bytes]:
    """Return networks: copies in a row, and a sum of two branches."""
    return [copying(3).file(), residual().file()]


def onnx_networks() -> list[bytes]:
    """Return small networks with random weights: many operators, a residual, and channels last."""
    last = File((1, 7, 7, 3))
    models = random_networks.mixed(side=12), random_networks.residual((4,), 4), last.model(classifier(last))
    return [model.SerializeToString() for model in models]


def pictures() -> list[bytes]:
    """Return grey pictures of the size that the reader asks for."""
    return [_saved(partial(Image.fromarray(np.zeros(PICTURE_SHAPE[1:], np.uint8)).save, format="PPM"))]


def dumped() -> list[bytes]:
    """Return results as the public runtime dumps them."""
    tensor = Compiled("copies", parse_loadable(loadables()[0]), SMALL).place().inputs[0]
    with _folder() as folder:
        path = folder / "result.dimg"
        write_dimg(path, tensor, np.zeros(tensor.shape, np.int8))
        return [path.read_bytes()]


def cycles() -> list[bytes]:
    """Return what counts of the results of an earlier run."""
    layers = [{"layer": "conv0", "cycles": 120}]
    return [json.dumps([{"scenario": "x", "seed": 1, "cycles": 500, "performance": layers}]).encode()]


def commands() -> list[bytes]:
    """Return command lines, a word a line."""
    return [line.replace(b" ", b"\n") for line in (TEXTS / "commands.txt").read_bytes().splitlines()]


def _bare(text: str) -> bytes:
    """Return TOML without lines of comments, so that mutations meet content."""
    return "\n".join(line for line in text.splitlines() if line and not line.startswith("#")).encode() + b"\n"
