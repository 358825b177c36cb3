"""Ends a simulation in which nothing moves any more, and says what was outstanding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocotb.triggers import Event

from tb.sim.clocking import cycle, wait_cycles
from tb.sim.csb import CsbTimeout

if TYPE_CHECKING:
    from tb.sim.bench import Bench

_CHECKS_PER_DEADLINE = 4
_LOOK_CYCLES = 1000
_REST_CYCLES = 256


async def nothing_moves(bench: Bench) -> int:
    """Return how many cycles were idle once CSB and the memory ports have been for long enough."""
    step = max(bench.settings.hang_cycles // _CHECKS_PER_DEADLINE, 1)
    last, quiet = bench.activity, 0
    while quiet < bench.settings.hang_cycles:
        await wait_cycles(bench.clock, step)
        quiet = quiet + step if bench.activity == last else 0
        last = bench.activity
    return quiet


async def memory_rests(bench: Bench) -> bool:
    """Return True once no memory port has moved or owed anything for a while, False when that never comes."""
    for _ in range(0, bench.settings.hang_cycles, _REST_CYCLES):
        last = bench.activity
        await wait_cycles(bench.clock, _REST_CYCLES)
        if bench.activity == last and not any(slave.outstanding() for slave in bench.slaves.values()):
            return True
    return False


async def first_mismatch(bench: Bench) -> int:
    """Return soon after the first wrong byte, if that shall end the scenario; else never."""
    if not bench.settings.stop_at_first:
        await Event().wait()
    while not bench.verdict.findings:
        await wait_cycles(bench.clock, _LOOK_CYCLES)
        bench.look()
    return 0


async def report(bench: Bench, quiet_cycles: int, waiting_for: list[str]) -> str:
    """Return what is outstanding: events, CSB, memory requests, and the S_STATUS of every unit."""
    lines = [f"hang: nothing moved for {quiet_cycles} cycles, at cycle {cycle()}"]
    lines += [f"  waiting for interrupt {event}" for event in waiting_for]
    if bench.csb.pending:
        lines.append(f"  CSB: {bench.csb.pending}")
    lines += [f"  running: {started.name}" for started in bench.tracker.running]
    for ram, slave in bench.slaves.items():
        lines += [f"  {ram.value}: {text}" for text in slave.outstanding()]
        if not bench.monitors[ram].is_balanced:
            lines.append(f"  {ram.value}: {bench.monitors[ram].unmatched}")
    lines += await _statuses(bench)
    return "\n".join(lines)


async def _statuses(bench: Bench) -> list[str]:
    lines = []
    try:
        for unit in bench.registers.units:
            if unit in ("GLB", "CFGROM", "MCIF", "CVIF", "BDMA"):
                continue
            register = bench.registers.register(unit, "S_STATUS")
            word = await bench.csb.read(register)
            names = {value: name for name, value in register.field("status_0").values.items()}
            states = [names.get(register.field(f"status_{n}").extract(word), "?") for n in (0, 1)]
            if states != ["IDLE", "IDLE"]:
                lines.append(f"  {unit}.S_STATUS: group 0 {states[0]}, group 1 {states[1]}")
    except CsbTimeout as error:
        lines.append(f"  {error}")
    return lines or ["  every unit's S_STATUS is IDLE"]
