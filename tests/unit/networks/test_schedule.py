"""The order in which operations are programmed and enabled, and how waits say it in a program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nvdla_networks.compiled import Compiled
from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.errors import NetworkError
from nvdla_networks.layers import flows, keys, layers_of
from nvdla_networks.loadable import parse_loadable
from nvdla_networks.network import (
    Edge,
    HardwareTask,
    LutLoad,
    Network,
    Operation,
    Power,
    SoftwareOperation,
    SoftwareTask,
)
from nvdla_networks.program import Programmer, until
from nvdla_networks.scenario import Run, play_networks
from nvdla_networks.schedule import Step, Turns, needed, schedule
from nvdla_tb.nvdla.program.ops import InterruptNotify, Op, RegWrite, SyncNotify, SyncWait
from nvdla_tb.nvdla.registers import RegisterMap
from tests.unit.networks.loadables import SHAPE, SMALL, copying, on_model, residual, residual_of


def operation(name: str, engine: EngineId, *edges: Edge, **rest: object) -> Operation:
    units = {EngineId.SDP: ("SDP_RDMA", "SDP"), EngineId.CONV: ("CACC", "CDMA"), EngineId.PDP: ("PDP_RDMA", "PDP")}
    return Operation(name, engine, units.get(engine, (engine.name,)), {}, (1, 1, 1), edges=edges, **rest)


def task(*operations: Operation) -> HardwareTask:
    chains = {
        engine: tuple(n for n, o in enumerate(operations) if o.engine is engine)
        for engine in dict.fromkeys(o.engine for o in operations)
    }
    return HardwareTask(operations, chains)


def steps(which: HardwareTask, turns: Turns | None = None) -> list[str]:
    """Return the steps as text, such as ``program sdp0 0``."""
    return [
        f"{action.step.value} {which.operations[action.number].name} {next(iter(action.groups.values()))}"
        for action in schedule(which, turns or Turns())
    ]


def chain(count: int) -> HardwareTask:
    """Return copies of which each waits for the end of the one before."""
    return task(
        *(operation(f"sdp{n}", EngineId.SDP, *([Edge(n - 1, Event.COMPLETED)] if n else [])) for n in range(count))
    )


def test_two_operations_are_programmed_ahead_and_groups_are_taken_in_turn() -> None:
    assert steps(chain(3)) == [
        *("program sdp0 0", "enable sdp0 0", "program sdp1 1", "end sdp0 0"),
        *("enable sdp1 1", "program sdp2 0", "end sdp1 1", "enable sdp2 0", "end sdp2 0"),
    ]


def test_the_next_task_goes_on_with_the_other_group() -> None:
    turns = Turns()
    steps(chain(3), turns)
    assert steps(chain(1), turns) == ["program sdp0 1", "enable sdp0 1", "end sdp0 1"]


def fused() -> HardwareTask:
    """Return a convolution that hands over to SDP, and a pooling of what SDP leaves."""
    return task(
        operation("conv0", EngineId.CONV, Edge(1, Event.ENABLED)),
        operation("sdp0", EngineId.SDP, Edge(0, Event.PROGRAMMED), parent=0),
        operation("pdp0", EngineId.PDP, Edge(1, Event.COMPLETED)),
    )


def test_of_a_fused_pair_both_are_programmed_and_the_later_is_enabled_first() -> None:
    got = [line.rpartition(" ")[0] for line in steps(fused())]
    assert got.index("program conv0") < got.index("enable sdp0") < got.index("enable conv0")
    assert got.index("end conv0") < got.index("end sdp0") < got.index("enable pdp0")


def test_rdma_takes_its_groups_on_its_own() -> None:
    without = replace(operation("sdp1", EngineId.SDP), units=("SDP",))
    which = task(operation("sdp0", EngineId.SDP), without, operation("sdp2", EngineId.SDP))
    groups = {a.number: a.groups for a in schedule(which, Turns()) if a.step is Step.PROGRAM}
    assert groups == {0: {"SDP_RDMA": 0, "SDP": 0}, 1: {"SDP": 1}, 2: {"SDP_RDMA": 1, "SDP": 0}}


def test_bdma_is_programmed_when_the_other_group_is_launched() -> None:
    which = task(
        operation("bdma0", EngineId.BDMA, Edge(2, Event.COMPLETED)),
        operation("bdma1", EngineId.BDMA),
        operation("sdp0", EngineId.SDP),
    )
    got = steps(which)
    assert got.index("enable bdma0 0") < got.index("program bdma1 1")


def test_other_tables_wait_for_the_end_of_those_who_use_theirs() -> None:
    tables = [LutLoad("CDP", (RegWrite("CDP.S_LUT_ACCESS_DATA", entry),)) for entry in (0, 0, 1)]
    which = task(*(operation(f"cdp{n}", EngineId.CDP, lut=lut) for n, lut in enumerate(tables)))
    actions = list(schedule(which, Turns()))
    order = [(a.step, a.number) for a in actions]
    assert order.index((Step.PROGRAM, 1)) < order.index((Step.END, 0))
    assert order.index((Step.END, 1)) < order.index((Step.PROGRAM, 2))
    assert [a.loads_lut for a in actions if a.step is Step.PROGRAM] == [True, False, True]


def test_tables_are_loaded_after_an_operation_without_any_is_enabled() -> None:
    """Their load waits for its end, and would keep its own unit from enabling it."""
    table = LutLoad("SDP", (RegWrite("SDP.S_LUT_ACCESS_DATA", 0),))
    which = task(
        operation("pdp0", EngineId.PDP),
        operation("sdp0", EngineId.SDP, Edge(0, Event.COMPLETED)),
        operation("sdp1", EngineId.SDP, lut=table),
    )
    got = steps(which)
    assert got.index("enable sdp0 0") < got.index("program sdp1 1")


def test_operations_that_wait_for_each_other_are_refused_with_what_they_wait_for() -> None:
    which = task(
        operation("sdp0", EngineId.SDP, Edge(1, Event.COMPLETED)),
        operation("pdp0", EngineId.PDP, Edge(0, Event.ENABLED)),
    )
    with pytest.raises(NetworkError, match=r"^sdp0 waits for COMPLETED of pdp0, which never happens$"):
        steps(which)


def test_what_an_operation_needs_is_its_chain_its_edges_and_what_is_fused_with_it() -> None:
    assert needed(fused(), 2) == (0, 1, 2)
    assert needed(fused(), 0) == (0, 1)
    assert needed(chain(3), 1) == (0, 1)


def test_a_task_that_ends_early_keeps_its_edges_under_new_numbers() -> None:
    which = task(
        operation("pdp0", EngineId.PDP),
        operation("sdp0", EngineId.SDP),
        operation("sdp1", EngineId.SDP, Edge(1, Event.COMPLETED)),
    )
    cut = until(which, "sdp1")
    assert [o.name for o in cut.operations] == ["sdp0", "sdp1"]
    assert cut.operations[1].edges == (Edge(0, Event.COMPLETED),)
    assert cut.chains == {EngineId.SDP: (0, 1)}


def program(which: HardwareTask) -> list[Op]:
    return list(Programmer(RegisterMap.of(SMALL), counts=False).write(which, "t"))


def test_waits_stand_before_what_waits_and_notifications_after_it() -> None:
    ops = program(chain(3))
    enable = [n for n, op in enumerate(ops) if op == RegWrite("SDP.D_OP_ENABLE", 1)]
    waits = [n for n, op in enumerate(ops) if op == SyncWait("SDP", "t_sdp0_done")]
    assert enable[0] < waits[0] < enable[1]
    assert ops.index(SyncNotify("SDP", "t_sdp1_enabled")) == enable[1] + 1
    # The third operation takes the group of the first.
    assert len(waits) == 2


def test_all_units_of_an_operation_wait_side_by_side_so_that_none_goes_first() -> None:
    ops = program(fused())
    at = [n for n, op in enumerate(ops) if isinstance(op, SyncWait) and op.sync_id == "t_sdp0_enabled"]
    assert [ops[n].target for n in at] == ["CACC", "CDMA"]
    assert at[1] == at[0] + 1


def test_the_end_of_a_fused_chain_is_awaited_after_all_of_it_is_enabled() -> None:
    ops = program(fused())
    last_enable = max(n for n, op in enumerate(ops) if op == RegWrite("CDMA.D_OP_ENABLE", 1))
    assert ops.index(InterruptNotify("CACC", 0, "t_conv0_done")) > last_enable
    assert ops.index(InterruptNotify("SDP", 0, "t_sdp0_done")) > last_enable


def test_events_of_cdma_are_awaited_for_every_convolution_once_any_is_needed() -> None:
    which = task(
        operation("conv0", EngineId.CONV),
        operation("conv1", EngineId.CONV),
        operation("pdp0", EngineId.PDP, Edge(1, Event.WEIGHTS_DONE)),
    )
    awaited = [op for op in program(which) if isinstance(op, InterruptNotify) and op.unit == "CDMA_WT"]
    assert awaited == [
        InterruptNotify("CDMA_WT", 0, "t_conv0_weights"),
        InterruptNotify("CDMA_WT", 1, "t_conv1_weights"),
    ]


def test_a_chain_of_copies_plays_on_the_model_in_its_order() -> None:
    played, _ = on_model([copying(5).place()], [[None]])
    groups = [e.started.group for e in played.expectations]
    assert groups == [0, 1, 0, 1, 0]


def test_layers_are_called_after_their_operations() -> None:
    networks = play_networks("copies", [copying(2).place()], [[None]])
    assert [layer.name for layer in layers_of(networks.runs)] == ["sdp0", "sdp1"]
    twice = layers_of([networks.runs[0], networks.runs[0]])
    assert list(keys(layer.unit for layer in twice)) == [("SDP", n) for n in range(4)]
    (layer, pooled) = layers_of([replace(networks.runs[0], hardware=(fused(),))])
    assert (layer.name, layer.engine, pooled.name) == ("conv0+sdp0", "CONV-SDP", "pdp0")


def test_a_network_ends_with_the_layer_that_is_asked_for() -> None:
    network = copying(3).place()
    networks = play_networks("cut", [network], [[None]], last="sdp1")
    assert [layer.name for layer in layers_of(networks.runs)] == ["sdp0", "sdp1"]
    run: Run = networks.runs[0]
    assert (run.is_whole, run.observed, run.results({})) == (False, (), ())
    with pytest.raises(NetworkError, match=r"^the last layer must be one of sdp0, sdp1, sdp2, not sdp7$"):
        play_networks("cut", [network], [[None]], last="sdp7")


def test_runs_follow_each_other_in_one_scenario_with_inputs_of_their_own() -> None:
    compiled = Compiled("copies", parse_loadable(copying(3).file()), SMALL)
    values = [np.full(SHAPE, value, dtype=np.int8) for value in (1, 2)]
    placed = [compiled.place(), compiled.place()]
    played, results = on_model(placed, [[value] for value in values])
    assert [e.started.group for e in played.expectations] == [0, 1, 0, 1, 0, 1]
    for (result,), value in zip(results, values, strict=True):
        np.testing.assert_array_equal(result, value, strict=True)
    networks = play_networks("two", placed, [[None], [None]])
    first = networks.scenario.ops.index(SyncNotify("SDP", "n1_t0_sdp0_programmed"))
    assert SyncWait("SDP", "n0_t0_sdp2_done") in networks.scenario.ops[:first]


def software(network: Network, src: int, dst: int) -> SoftwareTask:
    """Return a task that adds 1 to what lies in one allocation and puts it into another."""
    by_name = {allocation.name: allocation.address for allocation in network.allocations}
    tensors = [replace(network.inputs[0], address=by_name[f"m{number}"]) for number in (src, dst)]
    return SoftwareTask((SoftwareOperation(Power(1.0, 1.0, 1.0), *tensors),))


def split(network: Network, *tasks: SoftwareTask) -> Network:
    """Return a network of two copies, each a task, with software before, between and after them."""
    (whole,) = network.tasks
    assert isinstance(whole, HardwareTask)
    hardware = [HardwareTask((replace(one, edges=()),), {EngineId.SDP: (0,)}) for one in whole.operations]
    return replace(network, tasks=(tasks[0], hardware[0], tasks[1], hardware[1], tasks[2]))


def test_software_runs_before_between_and_after_hardware() -> None:
    design = copying(2)
    design.ops[1].surface["src.address"] = 8
    design.buffers.append((48, None))
    design.ops[1].surface["dst.address"] = 7
    network = design.place()
    network = split(network, software(network, 5, 5), software(network, 6, 8), software(network, 7, 7))
    _, ((result,),) = on_model([network], [[np.full(SHAPE, 10, dtype=np.int8)]])
    np.testing.assert_array_equal(result, np.full(SHAPE, 13, dtype=np.int8), strict=True)


def test_software_between_must_not_write_what_hardware_has_used() -> None:
    network = copying(2).place()
    network = split(network, software(network, 5, 5), software(network, 6, 6), software(network, 7, 7))
    with pytest.raises(NetworkError, match=r"^data must be memory that no earlier layer uses$"):
        play_networks("steps", [network], [[None]])


def test_a_residual_network_computes_what_its_layers_say() -> None:
    data = np.random.default_rng(7).integers(-128, 128, SHAPE, dtype=np.int8)
    network = residual().place()
    _, ((result,),) = on_model([network], [[data]])
    networks = play_networks("residual", [network], [[data]])
    assert [layer.name for layer in layers_of(networks.runs)] == ["conv0+sdp0", "pdp0", "conv1+sdp1", "sdp2"]
    assert flows(layers_of(networks.runs)) == [(0, 1), (1, 2), (0, 3), (2, 3)]
    np.testing.assert_array_equal(result, residual_of(data), strict=True)
