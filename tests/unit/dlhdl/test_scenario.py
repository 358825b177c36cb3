from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dlhdl_models.single import Bounded
from dlhdl_tb.config import PLAN, DlhdlConfig, embedded_configs
from dlhdl_tb.draw import size
from dlhdl_tb.judge import results_of
from dlhdl_tb.network import Kind
from dlhdl_tb.scenario import DlhdlEntry, Mode, load_plan, read, save
from nvdla_models.errors import InputError
from nvdla_tb.stimulus.generate.errors import PlanError

CORE = DlhdlConfig.load("dlhdl_int8_9")
CONV = {"kind": "conv", "features": "N+1", "kernel": [3, 3], "padding": [1, 1, 1, 1]}
DATA = {"input": ["2N+1", 4, 5], "layer": [CONV], "mode": "stream", "frames": 3}


@pytest.mark.parametrize(("text", "value"), [("C", 3), ("N", 4), ("C-1", 2), ("2N+1", 9), (7, 7)])
def test_sizes_are_those_of_the_core(text: object, value: int) -> None:
    assert size("x", text, CORE) == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("C-3", "x must be 1 to 65535, not 0"),
        (1 << 32, "x must be 1 to 65535, not 4294967296"),
        ("9999999C", "x must be a number, or one such as C, N-1 or 2N+1, not '9999999C'"),
        ("Z", "x must be a number, or one such as C, N-1 or 2N+1, not 'Z'"),
    ],
)
def test_a_size_that_cannot_be_is_refused(value: object, message: str) -> None:
    with pytest.raises(PlanError, match=rf"^{re.escape(message)}$"):
        size("x", value, CORE)


def test_a_scenario_follows_from_its_seed_and_its_file(tmp_path: Path) -> None:
    scenario = DlhdlEntry("t", "", DATA).build(CORE, 5)
    assert scenario.host.mode is Mode.STREAM
    assert (scenario.program.inputs.count, len(scenario.frames)) == (2, 3)
    assert scenario.frames[0].shape == (9, 4, 5)
    assert scenario.program.network.layers[0].kind is Kind.CONVOLUTION
    assert scenario.program.network.tensors[0].shape == (5, 4, 5)
    save(scenario, tmp_path / "s")
    again = read(tmp_path / "s", CORE)
    np.testing.assert_array_equal(again.program.conv_weights, scenario.program.conv_weights)
    np.testing.assert_array_equal(again.frames[2], scenario.frames[2])
    other = DlhdlEntry("t", "", DATA).build(CORE, 6)
    assert (other.frames[0] != scenario.frames[0]).any()


def test_few_results_are_limited() -> None:
    scenario = DlhdlEntry("t", "", DATA).build(CORE, 5)
    result = scenario.program.network.results(scenario.frames[0])[0]
    assert isinstance(result, np.ndarray)
    assert np.mean(np.abs(result.astype(int)) >= 127) < 0.1
    assert np.mean(np.abs(result.astype(int)) > 8) > 0.5


def test_batch_has_a_slot_for_each_frame() -> None:
    scenario = DlhdlEntry("t", "", {**DATA, "mode": "batch"}).build(CORE, 5)
    assert (scenario.program.inputs.count, scenario.program.outputs.count) == (3, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": "batch", "endless": True}, "t: endless must be left out in batch mode"),
        ({"input": [1, 2]}, "t: input must be [Z, Y, X] or [X], not 2 sizes"),
        (
            {"layer": [{"kind": "conv", "features": 1, "kernel": [9, 1]}]},
            "t: width must be an integer from 1 to 5, not 9",
        ),
        ({"layer": [{"kind": "add", "second": 0}]}, "t: layer[0].second must be -1 to -1, not 0"),
        (
            {"layer": [{**CONV, "features": 65535}], "input": [60, 8, 8]},
            "t: layer[0]: its weights must take at most 33554432 bytes, not 35388900",
        ),
        (
            {"input": [1 << 14, 64, 64], "layer": [{"kind": "max_pool", "kernel": [2, 2]}]},
            "t: each tensor must take at most 33554432 bytes, not 67108864",
        ),
        ({"input": [1 << 10, 64, 64], "frames": 9}, "t: all frames must take at most 33554432 bytes, not 37748736"),
        (
            {"mode": "batch", "frames": 2000, "layer": [{**CONV, "features": 60000}]},
            "t: OutputResult must end at most 1073741824 bytes after its base, not ",
        ),
        ({"input": [6], "layer": [CONV]}, "t: layer[0].source must be an image, not values"),
    ],
)
def test_a_description_that_cannot_be_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=rf"^{re.escape(message)}"):
        DlhdlEntry("t", "", {**DATA, **change}).build(CORE, 1)


def test_a_seed_below_zero_is_refused() -> None:
    with pytest.raises(PlanError, match=r"^t: seed must be 0 to 0xffffffffffffffff, not -1$"):
        DlhdlEntry("t", "", DATA).build(CORE, -1)


@pytest.mark.parametrize("config", embedded_configs(), ids=lambda config: config.name)
def test_each_scenario_of_the_plan_fits_each_embedded_core(config: DlhdlConfig) -> None:
    for entry in load_plan(PLAN):
        scenario = entry.build(config, 1)
        assert scenario.program.network.results(scenario.frames[0])


def test_a_plan_is_one_of_this_system(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('system = "dlhdl"\n[[scenario]]\nname = "a"\nabout = "b"\ninput = [6]\n')
    assert [(entry.name, entry.data) for entry in load_plan(path)] == [("a", {"input": [6]})]
    path.write_text('system = "nvdla"\nscenario = []\n')
    with pytest.raises(PlanError, match=r"^p\.toml: system must be dlhdl, not nvdla$"):
        load_plan(path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('system = "dlhdl"\n[[scenario]]\nname = "a"\nabout = "b"\ninput_file = 3\n')
    (entry,) = load_plan(path)
    with pytest.raises(PlanError, match=r"^a: input_file must be a text, not 3$"):
        entry.build(CORE, 1)


def in_files(folder: Path, frames: np.ndarray, expected: np.ndarray) -> DlhdlEntry:
    """Return the scenario of a plan whose frames and results lie in files beside it."""
    np.save(folder / "frames.npy", frames)
    np.save(folder / "results.npy", expected)
    plan = folder / "plan.toml"
    plan.write_text(
        'system = "dlhdl"\n[[scenario]]\nname = "t"\nabout = "of files"\ninput_file = "frames.npy"\n'
        'expected_file = "results.npy"\ninput = ["C+1", 2, 3]\nlayer = [{ kind = "max_pool", kernel = [1, 1] }]\n'
    )
    (entry,) = load_plan(plan)
    return entry


def test_frames_and_results_may_come_from_files(tmp_path: Path) -> None:
    frames = np.arange(2 * 4 * 2 * 3, dtype=np.int8).reshape(2, 4, 2, 3)
    scenario = in_files(tmp_path, frames, -frames).build(CORE, 5)
    assert len(scenario.frames) == 2
    np.testing.assert_array_equal(scenario.frames[1], frames[1], strict=True)
    (result,) = results_of(scenario, 1)
    np.testing.assert_array_equal(result, -frames[1], strict=True)
    save(scenario, tmp_path / "s")
    (tmp_path / "frames.npy").unlink()
    (tmp_path / "results.npy").unlink()
    again = read(tmp_path / "s", CORE)
    np.testing.assert_array_equal(again.frames[0], frames[0], strict=True)
    np.testing.assert_array_equal(results_of(again, 0)[0], -frames[0], strict=True)


def test_results_in_single_have_the_bound_of_the_model(tmp_path: Path) -> None:
    core = DlhdlConfig.load("dlhdl_single_9")
    frames = np.ones((1, 4, 2, 3), dtype=np.float32)
    (result,) = results_of(in_files(tmp_path, frames, 2 * frames).build(core, 5), 0)
    assert isinstance(result, Bounded)
    np.testing.assert_array_equal(result.value, 2.0 * frames[0])


@pytest.mark.parametrize(
    ("frames", "expected", "message"),
    [
        (
            (1, 4, 2, 3),
            (2, 4, 2, 3),
            "t: expected_file must be int8 of shape (1, 4, 2, 3), not int8 of shape (2, 4, 2, 3)",
        ),
        (
            (1, 4, 3, 2),
            (1, 4, 2, 3),
            "t: input_file must be int8 of shape (1, 4, 2, 3), not int8 of shape (1, 4, 3, 2)",
        ),
        ((), (1, 4, 2, 3), "t: input_file must hold one array for all frames, not a single number"),
    ],
)
def test_files_of_another_shape_are_refused(
    frames: tuple[int, ...], expected: tuple[int, ...], message: str, tmp_path: Path
) -> None:
    entry = in_files(tmp_path, np.zeros(frames, np.int8), np.zeros(expected, np.int8))
    with pytest.raises(PlanError, match=rf"^{re.escape(message)}$"):
        entry.build(CORE, 5)
