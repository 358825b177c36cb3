"""Small valid files of every kind, from which mutations start."""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image

from models.config import BUILTIN_DIR
from networks import random_networks
from tb.dlhdl.config import EMBEDDED, EMBEDDED_HEADER, DlhdlConfig
from tb.dlhdl.scenario import load_plan as load_dlhdl_plan
from tb.explain import record
from tb.explain.seen import Seen
from tb.judge.finding import Check
from tb.judge.verdict import Verdict
from tb.places import HDL, PLANS, ROOT
from tb.run.dut import Dut
from tb.run.regress import bundle
from tb.run.regress.store import Store
from tb.run.task import Task
from tb.stimulus.exchange import Answer, Explained, Performance
from tb.stimulus.generate.plan import load_plan
from tb.stimulus.network.compiled import Compiled
from tb.stimulus.network.dimg import write_dimg
from tb.stimulus.network.loadable import parse_loadable
from tb.stimulus.trace import write
from tb.tools.score.catalogue import BUGS_FILE
from tb.tools.score.catch import Catch
from tb.tools.score.journal import Journal, Played
from tests.unit.explain import cases
from tests.unit.explain.test_runs import played
from tests.unit.nvdla.samples import SMALL
from tests.unit.run.regress.tasks import hang, wrong
from tests.unit.stimulus.network.loadables import copying, residual

MEASURED = ROOT / "tests" / "data" / "measured"
TASK = Task("random", 7, "random", "SDP,PDP", Dut("nv_small", "verilator"), "again")
VERDICT = Verdict(judged_bytes=8, cycles=900, findings=[wrong(), hang("SDP")])
RESULT = msgspec.structs.replace(TASK.result(VERDICT, 1.5, Path("gone")), coverage={"SDP.height=1": 3})
PICTURE_SHAPE = (1, 2, 3)
ABOUT = {"model": "x", "seed": 1}


def configurations() -> list[bytes]:
    """Return the built-in ones without their comments."""
    return [_bare(path.read_text(encoding="utf-8")) for path in sorted(BUILTIN_DIR.glob("*.toml"))]


def plans(name: str) -> list[bytes]:
    """Return a plan cut into plans of one scenario each, those with large cubes left out."""
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    head, *scenarios = text.split("[[scenario]]")
    return [_bare(f"{head}[[scenario]]{scenario}") for scenario in scenarios if len(scenario) < 1500][:80]


def varied_plans() -> list[bytes]:
    """Return a plan with variants, and a layer of each value."""
    return [
        b"""config = "nv_small"
[variant.slow]
about = "late"
settings = { port = { latency_cycles = 900 } }
[variant.fast]
about = "at once"
[[scenario]]
name = "sdp_{variant}"
about = "SDP; {about}"
layer = [{ engine = "SDP", each = { shape = [[8, 1, 1], [9, 2, 3]], carry = [12, 13] } }]
"""
    ]


def cores() -> list[bytes]:
    """Return configurations of a Deep Learning HDL processor, with the header that ``readers`` puts beside them."""
    text = 'system = "dlhdl"\nconv_thread_number = {}\ndata_type = "{}"\nregisters = "core_addr.h"\n'
    return [text.format(number, kind.value).encode() for kind, number in EMBEDDED]


def register_headers() -> list[bytes]:
    """Return that of the embedded cores."""
    return [EMBEDDED_HEADER.read_bytes()]


def dlhdl_scenarios() -> list[bytes]:
    """Return the file of each scenario of the plan, as a launcher saves it for a simulator."""
    core = DlhdlConfig.load("dlhdl_int8_4")
    entries = load_dlhdl_plan(PLANS / "dlhdl.toml")
    saved = [{"name": entry.name, "config": core.name, "seed": 1, "described": entry.data} for entry in entries]
    return [json.dumps(one).encode() for one in saved]


def features() -> list[bytes]:
    """Return a feature plan that names what ``readers`` puts beside it."""
    return [
        b"""plans = ["plan.toml"]
coverage = "coverage"
[[level]]
name = "L0"
about = "few"
seeds = 1
search = 0
steered = 0
random = 0
[[feature]]
name = "one"
about = "of it"
level = "L0"
tests = ["sdp_*"]
random = ["SDP"]
coverage = ["SDP.*"]
configs = ["nv_small"]
"""
    ]


def coverage_models() -> list[bytes]:
    """Return the models of the units."""
    return [_bare(path.read_text(encoding="utf-8")) for path in sorted((PLANS / "coverage").glob("*.toml"))]


def port_maps() -> list[bytes]:
    """Return port maps."""
    return [
        b'open = ["debug_bus"]\nabsent = ["test_mode"]\n[ports]\ndla_intr = "irq"\n[tie]\nscan_enable = 0\n',
        b'[ports]\ndla_core_clk = "clk"\ndla_reset_rstn = "rst_n"\n',
        b'interrupts = ["irq"]\n[drive]\nrst = "!dla_reset_rstn"\n[csb]\nkind = "apb"\npins = "s_{pin}"\nbase = 4096\n'
        b'[csb.names]\npslverr = "error"\n[dbb]\nkind = "axi4"\npins = "M_{CHANNEL}_{PIN}"\n',
    ]


def stages() -> list[bytes]:
    """Return the stages of the embedded device."""
    return [_bare((HDL / "stages.toml").read_text(encoding="utf-8"))]


def catalogues() -> list[bytes]:
    """Return the head of the score's catalogue with a few bugs each."""
    text = BUGS_FILE.read_text(encoding="utf-8")
    head, *bugs = text.split("[[bug]]")
    return [_bare(head + "[[bug]]" + "[[bug]]".join(bugs[n : n + 3])) for n in range(0, 60, 6)]


def clusters() -> list[bytes]:
    """Return settings of a batch system."""
    return [
        b'queue = "short"\ncores = 8\nmemory = "32GB"\nwalltime = "04:00:00"\n',
        b'cores = 2\nprocesses = 2\njob_script_prologue = ["module load x"]\npython = "python3"\n'
        b"[scheduler_options]\nport = 0\n",
    ]


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
    name = next(name for name in trace_files() if name.endswith(".dat")).encode()
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


def data_files() -> list[bytes]:
    """Return memory surface files."""
    own = [data for name, data in trace_files().items() if name.endswith(".dat")][:2]
    return [b"{offset:0x0, size:4, payload:0x00 0x10 0x20 0x30},\n{offset:0x4, size:2, payload:0x1 0x2}\n", *own]


def measured() -> list[bytes]:
    """Return the measured layers that the project carries."""
    return [path.read_bytes() for path in sorted(MEASURED.glob("*.npz"))]


def tensors() -> list[bytes]:
    """Return arrays."""
    found = []
    for array in (
        np.arange(33 * 4 * 5, dtype=np.int8).reshape(33, 4, 5),
        np.asfortranarray(np.zeros((33, 4, 5), np.int8)),
        np.zeros((33, 4, 5), np.int8)[:, ::-1],
    ):
        file = io.BytesIO()
        np.save(file, array)
        found.append(file.getvalue())
    return found


def images() -> list[bytes]:
    """Return PNG files of the modes that pixel formats have."""
    found = []
    for array in (
        np.zeros((4, 6), np.uint8),
        np.zeros((4, 6), np.uint16),
        np.zeros((4, 6, 4), np.uint8),
    ):
        file = io.BytesIO()
        Image.fromarray(array).save(file, "PNG")
        found.append(file.getvalue())
    return found


def filelists() -> list[bytes]:
    """Return filelists of what ``readers`` puts beside them."""
    return [
        b'// sources\n+incdir+inc\n+define+NAME=1+OTHER\n-y lib\n+libext+.v+.sv\n-v lib/cell.v\ntop.v "top.v"\n'
        b"-f nested.f\n-F nested.f\n${DIR}/top.v control.vlt\n/* over\n two lines */ # to the end\ntop\\.v\n"
    ]


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
    why = Explained(["a", "b"], [["dst-base"]], [[]])
    return [msgspec.json.encode(Answer(VERDICT, Performance(9.5, 0.5, 1 << 20), "again", None, why))]


def seen() -> list[bytes]:
    """Return the record of a failed run."""
    scoreboard = played(cases.copy_layer(), wrong=0, moved=16)
    with _folder() as folder:
        record.save(folder / record.FILE_NAME, Seen.of(scoreboard), SMALL, "nv_small")
        return [(folder / record.FILE_NAME).read_bytes()]


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
        journal = Journal(folder / "journal", ABOUT, resume=False)
        journal.add("one", Played(3, None, 1.5))
        journal.add("two", Played(1, Catch("a.1", 1, (Check.VALUE,), None, None, ""), 0.5))
        return [(folder / "journal").read_bytes()]


def counted() -> list[bytes]:
    """Return a file of Verilator's coverage."""
    return [b"# SystemC::Coverage-3\nC '\x01f\x02top.v\x01l\x0212\x01page\x02v_line/top' 3\nC '\x01f\x02a' 0\n"]


def loadables() -> list[bytes]:
    """Return networks: copies in a row, and a sum of two branches."""
    return [copying(3).file(), residual().file()]


def onnx_networks() -> list[bytes]:
    """Return small networks with random weights that hold every operator between them."""
    return [random_networks.mixed(side=12).SerializeToString(), random_networks.residual((4,), 4).SerializeToString()]


def pictures() -> list[bytes]:
    """Return grey pictures of the size that the reader asks for."""
    file = io.BytesIO()
    Image.fromarray(np.zeros(PICTURE_SHAPE[1:], np.uint8)).save(file, "PPM")
    return [file.getvalue()]


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
    lines = (
        "run --seed 1 --only x --jobs 2 --timeout 3600 --waves --waves-from cycle:100 --config nv_small",
        "regress random --seeds 10 --first 0 --engines SDP,PDP --jobs 2 --time-budget 10 --until-coverage 90.5",
        "regress plan --seeds 10 --level L1 --only sdp_* --listen 127.0.0.1 --cluster slurm",
        "describe --format feature --precision int8 --shape 33,4,5 --line-stride 64 --surface-stride 256",
        "describe --format pixel --pixel-format T_R8 --shape 1,4,5 --x-offset 0",
        "describe --format weight --precision int8 --shape 16,8,3,3",
        "describe --format operand --precision int8 --shape 33,4,5 --components alu,mul --component-bytes 1",
        "describe --format dlhdl --module convolution --precision int8 --shape 3,4,5 --conv-thread-number 4",
        "describe --format rubik --mode contract --precision int8 --shape 128,4,5 --stride 2,2 --config nv_full",
        "describe --format deconvolution --precision int8 --shape 16,8,3,3 --stride 2,2",
        "score --seed 1 --jobs 2 --timeout 10",
        "bench regress --tasks 10 --workers 1 2 --seconds 0",
    )
    return [line.replace(" ", "\n").encode() for line in lines]


def _bare(text: str) -> bytes:
    """Return TOML without lines of comments, so that mutations meet content."""
    return "\n".join(line for line in text.splitlines() if line and not line.startswith("#")).encode() + b"\n"
