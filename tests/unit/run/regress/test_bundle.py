"""Failure bundles: complete, movable, and honest about what is different."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_models.config import BUILTIN_DIR, HwConfig
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaint
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run.compile.ports import load_port_map
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.jobs import SCENARIO_DIR
from nvdla_tb.run.regress import bundle
from nvdla_tb.run.regress.bundle import BundleError
from nvdla_tb.run.task import BENCH
from nvdla_tb.stimulus.generate.random import random_entry
from nvdla_tb.stimulus.trace import write
from tests.unit.run.regress.tasks import hang, task, wrong

CONFIG = HwConfig.load("nv_small")
TASK = task(7)
WRONG, MORE = wrong(1), wrong(2, Check.MISSING, None)
FAILED = TASK.result(Verdict(judged_bytes=8, cycles=900, findings=[WRONG, MORE]), 1.5, Path("gone"))


def made(folder: Path) -> Path:
    """Leave what a failure leaves, and make it a bundle."""
    write(random_entry(CONFIG, TASK.seed, ("SDP", "PDP")).build(CONFIG, TASK.seed), folder / SCENARIO_DIR)
    bundle.write(folder, TASK, FAILED)
    return folder


def test_a_bundle_says_seed_command_and_tools(tmp_path: Path) -> None:
    data = json.loads((made(tmp_path) / bundle.BUNDLE_FILE).read_text(encoding="utf-8"))
    assert (data["task"]["seed"], data["task"]["rerun"]) == (7, "nvdla-tb regress random --seed 7")
    assert data["tools"]["verilator"]
    assert [finding["check"] for finding in data["result"]["verdict"]["findings"]] == ["wrong value", "missing write"]


def test_a_moved_bundle_plays_the_same_scenario(tmp_path: Path) -> None:
    shutil.move(made(tmp_path / "here"), tmp_path / "there")
    found = bundle.load(tmp_path / "there")
    assert (found.task, found.result) == (TASK, FAILED)
    assert found.job().make().ops == TASK.job().make().ops
    assert found.job().identity == TASK.identity


def test_a_bundle_brings_configuration_and_port_map_of_the_user(tmp_path: Path) -> None:
    own, ports = tmp_path / "mine.toml", tmp_path / "my_ports.toml"
    shutil.copyfile(BUILTIN_DIR / "nv_small.toml", own)
    ports.write_text('[ports]\ndla_intr = "irq"\n', encoding="utf-8")
    mine = replace(TASK, dut=replace(TASK.dut, config=str(own), port_map=str(ports), top="my_nvdla"))
    config = HwConfig.load(own)
    scenario = random_entry(config, mine.seed, ("SDP", "PDP")).build(config, mine.seed)
    folder = tmp_path / "bundle"
    write(scenario, folder / SCENARIO_DIR)
    bundle.write(folder, mine, FAILED)
    own.unlink()
    ports.unlink()
    shutil.move(folder, tmp_path / "moved")
    found = bundle.load(tmp_path / "moved")
    assert found.job().make().ops == scenario.ops
    spec = build_spec(found.dut, waves=False)
    assert (spec.config, spec.top) == (dataclasses.replace(CONFIG, name="mine"), "my_nvdla")
    assert spec.port_map is not None
    assert load_port_map(spec.port_map, spec.config).names == {"dla_intr": "irq"}


def test_a_bundle_of_the_embedded_device_needs_no_files(tmp_path: Path) -> None:
    assert bundle.load(made(tmp_path)).dut == TASK.dut


def test_the_command_of_a_replay_takes_no_options_of_the_run(tmp_path: Path) -> None:
    folder = made(tmp_path / "a failure")
    bundle.write(folder, replace(TASK, exact=True), FAILED)
    job = bundle.load(folder).job()
    assert job.rerun == f"nvdla-tb replay '{folder}'"
    assert job.make().settings.exact


def test_what_is_different_is_told() -> None:
    assert bundle.differences(FAILED, replace(FAILED, seconds=9.0, folder="elsewhere")) == []
    other = replace(FAILED, verdict=replace(FAILED.verdict, cycles=901, findings=[MORE, hang("SDP_0")]))
    assert bundle.differences(FAILED, other) == [
        "ended as hang, not mismatch",
        f"now: {complaint(hang('SDP_0'))}",
        f"no more: {complaint(WRONG)}",
        "took 901 cycles, not 900",
    ]


def test_the_rtl_of_another_machine_takes_the_place_of_its_own(tmp_path: Path) -> None:
    found = bundle.load(made(tmp_path))
    assert found.on(None) == found
    other = found.on(tmp_path / "x.f")
    assert other.dut == replace(TASK.dut, rtl=str(tmp_path / "x.f"))
    assert other.job().rerun == f"nvdla-tb replay {tmp_path} --rtl {tmp_path}/x.f"


def test_a_test_in_python_has_no_scenario(tmp_path: Path) -> None:
    bundle.write(tmp_path, replace(TASK, kind=BENCH, test="checkers.x"), FAILED)
    with pytest.raises(
        BundleError, match=r"^checkers\.x must be a scenario to be replayed; as a test in Python it is: "
    ):
        bundle.load(tmp_path).job()


def test_a_folder_without_a_bundle_says_how_a_scenario_that_passed_is_played_again(tmp_path: Path) -> None:
    with pytest.raises(BundleError) as refused:
        bundle.load(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path} must be a failure bundle, and has no bundle.json: only a failure of regress leaves one. A "
        "scenario that passed is played again by nvdla-tb run --only NAME --seed N --waves, and a random one by "
        "nvdla-tb run --plan FILE --waves after nvdla-tb regress random --seed N --seeds 1 --write-plan FILE"
    )
    with pytest.raises(BundleError, match=r"gone must be a failure bundle with bundle\.json: "):
        bundle.load(tmp_path / "gone")


@pytest.mark.parametrize("text", ["{", '{"version": 9}', '{"version": 3}'])
def test_another_folder_is_not_taken_for_a_bundle(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / bundle.BUNDLE_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(
        BundleError, match=r"(must be a failure bundle with bundle\.json: |must be of version 3, not 9$)"
    ):
        bundle.load(tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "version",
            None,
            "must be a failure bundle with bundle.json: content: version must be an integer, not None",
        ),
        (
            "task",
            [],
            "must be a failure bundle with bundle.json: content: task must be a table, not []",
        ),
        ("task", {}, "bundle.json: content: task.test is missing"),
        ("result", {}, "bundle.json: content: result.test is missing"),
    ],
)
def test_a_bundle_with_another_content_is_refused(key: str, value: object, message: str, tmp_path: Path) -> None:
    path = made(tmp_path) / bundle.BUNDLE_FILE
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), key: value}), encoding="utf-8")
    with pytest.raises(BundleError, match=re.escape(message)):
        bundle.load(tmp_path)
