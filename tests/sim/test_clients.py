"""Drivers in other processes: good ones are judged as any driver, hostile ones leave a finding and nothing else."""

from __future__ import annotations

import select
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.cli.drive import INCLUDE
from nvdla_tb.cli.main import main
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.jobs import Job, run_job
from nvdla_tb.sim.driver.client import BenchError, Client
from nvdla_tb.sim.driver.protocol import REQUEST, Operation
from nvdla_tb.stimulus.exchange import Driver
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings
from tests.repository import ROOT
from tests.sim.conftest import setup_of
from tests.unit.nvdla.samples import SMALL, small_sdp

EXAMPLE = ROOT / "examples" / "driver"
SILENT_SECONDS, LONG_SECONDS = 4.0, 60.0

REGISTERS = RegisterMap.of(SMALL)
STATUS = REGISTERS.address(REGISTERS.register("GLB", "S_INTR_STATUS"))
BYTES = bytes(range(32))


@pytest.fixture(scope="module")
def device() -> Built:
    return build(BuildSpec(HwConfig.load("nv_small"), backend="coroutine"))


def driven(
    device: Built,
    folder: Path,
    client: Callable[[str], object],
    seconds: float = LONG_SECONDS,
    where: str | None = None,
) -> Result:
    """Let a client drive the device, as the command does, and require that its socket is gone afterwards."""
    place = where or str(folder / "s")
    settings = BenchSettings(serve_interrupts=False, hang_cycles=2000)
    scenario = Scenario("client", "nv_small", (), 1, settings)
    job = Job("client", 1, "again", lambda: scenario, driver=Driver(silent_seconds=seconds, where=place))
    thread = threading.Thread(target=client, args=(place,), daemon=True)
    thread.start()
    result = run_job(job, setup_of(device), folder / "run")
    thread.join(LONG_SECONDS)
    assert not thread.is_alive()
    assert not Path(place).exists()
    return result


def said(result: Result) -> str:
    """Return the first line of the first finding."""
    return complaints(result.verdict)[0].splitlines()[0]


def one_layer(bench: Client) -> None:
    """Run a layer that passes its input on."""
    source, destination = bench.allocate(0, 32), bench.allocate(0, 32)
    bench.mem_write(0, source, BYTES)
    for op in encode(small_sdp((3, 2, 2), source, destination), SMALL, 0, "done"):
        if isinstance(op, RegWrite):
            bench.reg_write(REGISTERS.address(REGISTERS.parse(op.register)), op.value)
    assert bench.wait_interrupt()
    status = bench.reg_read(STATUS)
    assert status & 1
    bench.reg_write(STATUS, status)
    assert bench.mem_read(0, destination, 32) == BYTES


def test_a_client_in_python_is_judged_like_any_driver(device: Built, tmp_path: Path) -> None:
    def client(where: str) -> None:
        with Client(where) as bench:
            bench.log("\x1b[2J")
            before = bench.cycles()
            bench.delay(10)
            assert bench.cycles() - before >= 10
            one_layer(bench)

    result = driven(device, tmp_path, client)
    assert complaints(result.verdict) == []
    assert (result.ending, result.verdict.judged_bytes) == (Ending.PASSED, 32)


def test_a_client_at_a_port_of_this_machine_is_judged_too(device: Built, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def client(where: str) -> None:
        with Client(int(where)) as bench:
            one_layer(bench)

    result = driven(device, tmp_path, client, where=str(port))
    assert (complaints(result.verdict), result.ending) == ([], Ending.PASSED)


def test_the_example_in_c_is_judged_in_a_process_of_its_own(device: Built, tmp_path: Path) -> None:
    source, program = tmp_path / "main.c", tmp_path / "driver"
    source.write_text(
        '#include "nvdla_tb_client.h"\n#include "driver.c"\n'
        "int main(int count, char **words)\n{\n"
        "    const struct nvdla_tb *tb = count > 1 ? nvdla_tb_connect(words[1]) : 0;\n"
        "    return tb ? nvdla_tb_exit(nvdla_tb_main(tb)) : 1;\n}\n"
    )
    options = ["-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", f"-I{EXAMPLE}"]
    subprocess.run(["cc", *options, "-o", str(program), str(source)], check=True)
    codes: list[int] = []
    settings = BenchSettings(serve_interrupts=False, hang_cycles=20_000)
    scenario = Scenario("client", "nv_small", (), 1, settings)
    where = str(tmp_path / "s")
    job = Job("client", 1, "again", lambda: scenario, driver=Driver(where=where, silent_seconds=LONG_SECONDS))
    thread = threading.Thread(target=lambda: codes.append(subprocess.run([program, where], check=False).returncode))
    thread.start()
    result = run_job(job, setup_of(device), tmp_path / "run")
    thread.join()
    assert complaints(result.verdict) == []
    assert (result.ending, result.verdict.judged_bytes, codes) == (Ending.PASSED, 2560, [0])


def test_a_client_that_vanishes_ends_the_run_with_what_was_judged(device: Built, tmp_path: Path) -> None:
    def client(where: str) -> None:
        bench = Client(where)
        one_layer(bench)
        bench._socket.close()

    result = driven(device, tmp_path, client)
    assert said(result).endswith("cannot go on: its client has closed the connection without EXIT")
    assert (result.ending, result.verdict.judged_bytes) == (Ending.PROTOCOL, 32)


def test_several_clients_are_refused_and_the_first_goes_on(device: Built, tmp_path: Path) -> None:
    refused: list[str] = []

    def client(where: str) -> None:
        with Client(where) as bench:
            for _ in range(3):
                with pytest.raises(BenchError) as caught:
                    Client(where)
                refused.append(str(caught.value))
            one_layer(bench)

    result = driven(device, tmp_path, client)
    assert refused == 3 * ["another client drives the bench"]
    assert (complaints(result.verdict), result.ending) == ([], Ending.PASSED)


def test_only_the_user_may_connect(device: Built, tmp_path: Path) -> None:
    modes: list[int] = []

    def client(where: str) -> None:
        with Client(where) as bench:
            modes.append(Path(where).stat().st_mode & 0o777)
            one_layer(bench)

    driven(device, tmp_path, client)
    assert modes == [0o600]


def request(operation: int, ram: int = 0, address: int = 0, value: int = 0, nbytes: int = 0) -> bytes:
    return REQUEST.pack(operation, ram, address, value, nbytes)


RAW: list[tuple[str, bytes, str]] = [
    ("half a request", b"\1\0\0", "its client has closed the connection without EXIT"),
    ("no operation", b"\xff" * 32, "operation of a request must be 1 to 11, not 4294967295"),
    (
        "more bytes than there are",
        request(Operation.MEM_WRITE, nbytes=1 << 63),
        "MEM_WRITE must have at most 16777216 bytes, not 9223372036854775808",
    ),
    ("a log that never ends", request(Operation.LOG, nbytes=100) + b"x", "its client has closed the connection "),
    ("64 bits", request(Operation.REG_WRITE, address=STATUS, value=1 << 32), "a register takes 32 bits, not 0x1"),
    ("an odd register", request(Operation.REG_READ, address=3), "address must be a multiple of 4 below 0x40000, "),
    (
        "a register far away",
        request(Operation.REG_WRITE, address=1 << 63) + request(Operation.CYCLES),
        "address must be a multiple of 4 below 0x40000, not 0x8000000000000000",
    ),
    ("foreign memory", request(Operation.MEM_READ, address=0x1000, nbytes=8), "memory at 0x1000 must be allocated"),
    ("no such memory", request(Operation.ALLOCATE, ram=7, value=32, nbytes=8), "memory must be one of 0 (MC), not 7"),
    ("an odd alignment", request(Operation.ALLOCATE, value=3, nbytes=8), "alignment_bytes must be a power of two, "),
    ("too much room", request(Operation.ALLOCATE, value=32, nbytes=1 << 62), "allocations must have at most "),
    ("an age", request(Operation.DELAY, value=1 << 63), "cycles must be 1 to 4294967296, not 9223372036854775808"),
]


@pytest.mark.parametrize(("sent", "message"), [item[1:] for item in RAW], ids=[item[0] for item in RAW])
def test_what_the_bench_does_not_take_is_a_finding_and_an_answer(
    sent: bytes, message: str, device: Built, tmp_path: Path
) -> None:
    answers: list[bytes] = []

    def client(where: str) -> None:
        with Client(where)._socket as connection:
            connection.sendall(sent)
            if "closed the connection" not in message:
                answers.append(b"".join(iter(lambda: connection.recv(1 << 16), b"")))

    result = driven(device, tmp_path, client)
    assert f" cannot go on: {message}" in said(result)
    assert result.ending is Ending.PROTOCOL
    assert all(message.encode() in answer and b"\1\0\0\0" in answer for answer in answers)


def test_a_client_that_asks_nothing_or_never_comes_is_given_up(device: Built, tmp_path: Path) -> None:
    gone = threading.Event()
    result = driven(device, tmp_path, lambda where: (Client(where), gone.wait(20)), SILENT_SECONDS)
    gone.set()
    assert said(result).endswith("has asked nothing of the bench for 4 seconds")
    (tmp_path / "other").mkdir()
    absent = driven(device, tmp_path / "other", lambda where: None, SILENT_SECONDS)
    assert said(absent).endswith("has not connected in 4 seconds")
    assert {result.ending, absent.ending} == {Ending.HANG, Ending.PROTOCOL}


def test_a_client_that_reads_no_answer_is_given_up(device: Built, tmp_path: Path) -> None:
    closed: list[bool] = []

    def client(where: str) -> None:
        bench = Client(where)
        room = bench.allocate(0, 1 << 23)
        bench.mem_write(0, room, bytes(1 << 23))
        bench._socket.sendall(request(Operation.MEM_READ, address=room, nbytes=1 << 23))
        poller = select.poll()
        poller.register(bench._socket, 0)
        closed.append(bool(poller.poll(20_000)))

    result = driven(device, tmp_path, client, SILENT_SECONDS)
    assert said(result).endswith("has asked nothing of the bench for 4 seconds")
    assert (result.ending, closed) == (Ending.HANG, [True])


def test_a_client_that_waits_for_an_interrupt_that_cannot_come_hangs_nothing(device: Built, tmp_path: Path) -> None:
    def client(where: str) -> None:
        with pytest.raises(BenchError):
            Client(where).wait_interrupt()

    result = driven(device, tmp_path, client)
    assert said(result).endswith("waits for an interrupt that does not come")
    assert result.ending is Ending.HANG


def test_the_code_of_an_end_is_that_of_a_driver(device: Built, tmp_path: Path) -> None:
    result = driven(device, tmp_path, lambda where: Client(where).exit(-1))
    assert said(result).endswith("returned -1, not 0")


@pytest.mark.parametrize("what", ["file", "folder", "long", "nowhere", "open"])
def test_a_socket_that_cannot_be_made_safely_is_refused(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s"
    rule = "--socket must be a path where nothing is, not"
    if what == "file":
        path.touch()
    elif what == "folder":
        path.mkdir()
    elif what == "long":
        path, rule = tmp_path / ("n" * 120), "--socket must be a path of at most 107 bytes, not"
    elif what == "nowhere":
        path, rule = tmp_path / "none" / "s", "--socket must be in a folder that exists, not"
    else:
        (tmp_path / "all").mkdir()
        (tmp_path / "all").chmod(0o777)
        path, rule = tmp_path / "all" / "s", f"{tmp_path / 'all'} must not be writable for all users:"
    assert main(["drive", "--socket", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {rule}")
