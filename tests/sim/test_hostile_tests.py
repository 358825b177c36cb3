"""Tests in Python that do what no test should: each ends as a finding or an error, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.sim.test_pytest_plugin import fill, ran

LEFT = "the test ended before its bench.run did: what is left was not played"

SECONDS = str(100_000 + os.getpid())
"""How long a child sleeps that must not stay; no other process sleeps as long."""

HOSTILE = {
    "an_error_in_a_task": ("cocotb.start_soon(failing())\n    await bench.run(layer)", "ValueError: gave up"),
    "an_end_in_a_layer": ("cocotb.start_soon(bench.run(layer))\n    await Timer(1, 'us')", LEFT),
    "a_cancelled_layer": (
        "task = cocotb.start_soon(bench.run(layer))\n    await Timer(1, 'us')\n    task.cancel()",
        "mismatch: missing write: ",
    ),
    "a_deadline_in_a_layer": ("await with_timeout(bench.run(layer), 1, 'us')", "SimTimeoutError"),
    "an_exit": ("sys.exit(0)", "test error: SystemExit: 0 (test_hostile.py:"),
    "an_exit_of_the_process": (
        "os._exit(0)",
        "crash: test_hostile.an_exit_of_the_process: the simulator ended with code 0",
    ),
    "a_signal": ("os.kill(os.getpid(), 11)", "crash: test_hostile.a_signal: the simulator was ended by SIGSEGV"),
    "a_thread_that_stays": (
        "threading.Thread(target=time.sleep, args=(999,)).start()\n    await bench.run(layer)",
        "timeout: test_hostile.a_thread_that_stays was killed after 12 seconds, after cycle ",
    ),
    "a_loop": ("while True:\n        pass", "timeout: test_hostile.a_loop was killed after 12 seconds, after cycle "),
    "a_loop_in_no_time": (
        "while True:\n        await NullTrigger()",
        "timeout: test_hostile.a_loop_in_no_time was killed after 12 seconds, after cycle ",
    ),
    "two_benches": (
        "other, more = await placed(dut)\n    await other.run(more)\n    await bench.run(layer)",
        "InputError: a bench must not be used after the test has started another",
    ),
    "no_environment": ("os.chdir('/')\n    os.environ.clear()\n    await bench.run(layer)", "crash: "),
}
"""What a test does with its bench and a layer, and what is said of it."""

HARMLESS = {
    "a_child_that_stays": (
        "subprocess.Popen(['sleep', '{seconds}'], start_new_session=True)\n    await bench.run(layer)"
    ),
    "a_cancelled_read": (
        "task = cocotb.start_soon(bench.csb.read('GLB.S_NVDLA_HW_VERSION'))\n    await RisingEdge(bench.clock)\n"
        "    task.cancel()\n    assert await bench.csb.read('GLB.S_NVDLA_HW_VERSION') != 0\n    await bench.run(layer)"
    ),
}
"""What passes all the same."""

HEAD = """import os
import subprocess
import sys
import threading
import time

import cocotb
from cocotb.triggers import NullTrigger, RisingEdge, Timer, with_timeout

from nvdla_tb import Bench, Sdp


async def placed(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (64, 16, 16), dtype="int8"))
    return bench, Sdp(src, bench.reserve((64, 16, 16)), relu=True)


async def failing():
    await Timer(1, "us")
    raise ValueError("gave up")
"""

TEST = """

@cocotb.test()
async def {name}(dut):
    bench, layer = await placed(dut)
    {does}
"""


def test_hostile_tests_fail_and_say_why_and_nothing_stays(tmp_path: Path) -> None:
    tests = {**{name: does for name, (does, _) in HOSTILE.items()}, **HARMLESS}
    text = "".join(TEST.format(name=name, does=does.replace("{seconds}", SECONDS)) for name, does in tests.items())
    files = {"pytest.ini": "[pytest]\naddopts = --nvdla --nvdla-timeout 12\n", "test_hostile.py": f"{HEAD}{text}"}
    fill(tmp_path, files)
    said = ran(tmp_path)
    for name, (_, why) in HOSTILE.items():
        told = said.partition(f"_ {name} _")[2].partition("\n____")[0]
        assert f"failed: test_hostile.{name}.0" in told, said
        assert why in told, told
    assert f"{len(HOSTILE)} failed, {len(HARMLESS)} passed" in said, said
    assert subprocess.run(["pgrep", "-f", f"sleep {SECONDS}"], check=False, timeout=60).returncode == 1
