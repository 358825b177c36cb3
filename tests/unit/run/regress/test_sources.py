"""Jobs from plans and traces: what is refused before it is played, and what may be refused at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from nvdla_models.config import BUILTIN_DIR, HwConfig
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.paths import PLANS
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.jobs import Setup, run_job
from nvdla_tb.run.task import planned_job, trace_job, trace_jobs
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from nvdla_tb.stimulus.trace import TraceError, write
from tests.unit.run.regress.tasks import DUT

SMALL = HwConfig.load("nv_small")
ENTRIES = {entry.name: entry for entry in load_plan(PLANS / "nv_small.toml")}


def own(folder: Path, **changes: str) -> HwConfig:
    """Return nv_small as a configuration of the user's own, with other lines in its file."""
    lines = (BUILTIN_DIR / "nv_small.toml").read_text(encoding="utf-8").splitlines()
    changed = [f"{key} = {changes[key]}" if (key := line.partition(" ")[0]) in changes else line for line in lines]
    assert changed != lines
    path = folder / "my_build.toml"
    path.write_text("\n".join(changed), encoding="utf-8")
    return HwConfig.load(path)


def refused(entry: PlanEntry, config: HwConfig) -> str | None:
    job = planned_job(entry, config, 1, "rerun")
    assert not job.refusable, "what is not refused beforehand was made for the configuration"
    return job.refused


def test_a_scenario_of_another_plan_is_refused_when_the_configuration_lacks_its_unit(tmp_path: Path) -> None:
    small = own(tmp_path, pdp_enable="false", pdp_throughput="0", sdp_bn_enable="false", sdp_bn_throughput="0")
    assert refused(ENTRIES["sdp_pass_through_one_element"], small) is None
    assert (refused(ENTRIES["pdp_max_2x2"], small) or "").endswith("SDP_RDMA, SDP, CDP_RDMA, CDP, not PDP")
    assert refused(ENTRIES["sdp_x1_and_x2_together"], small) == (
        "SDP.D_DP_BN_CFG.bn_bypass must be YES, not NO: my_build has no X2"
    )


def test_a_scenario_of_the_own_plan_is_played_whatever_it_needs(tmp_path: Path) -> None:
    config = own(tmp_path, sdp_bn_enable="false", sdp_bn_throughput="0")
    entry = replace(ENTRIES["sdp_x1_and_x2_together"], config="my_build")
    assert refused(entry, config) is None


def test_sizes_that_only_the_plans_own_configuration_takes_are_refused() -> None:
    entry = {entry.name: entry for entry in load_plan(PLANS / "nv_small_limits.toml")}["limits_conv_full_data"]
    assert refused(entry, SMALL) is None
    assert refused(entry, HwConfig.load("nv_large")) == (
        "limits_conv_full_data: layer[0]: data_banks must be 1 to 15, not 31 (nv_large)"
    )


def test_a_scenario_that_no_configuration_takes_is_an_error() -> None:
    entry = {entry.name: entry for entry in load_plan(PLANS / "nv_small_limits.toml")}["limits_conv_full_data"]
    (layer, *_) = entry.data["layer"]
    wrong = replace(entry, data=entry.data | {"layer": [layer | {"banks": [32, 1]}]})
    with pytest.raises(PlanError, match=r"layer\[0\]: data_banks must be 1 to 31, not 32"):
        planned_job(wrong, HwConfig.load("nv_large"), 1, "rerun")


def test_every_scenario_of_the_gate_is_played_or_refused_on_a_larger_configuration() -> None:
    hardware = HwConfig.load("nv_large")
    entries = [entry for path in sorted(PLANS.glob("nv_small*.toml")) for entry in load_plan(path)]
    played = [entry for entry in entries if planned_job(entry, hardware, 1, "rerun").refused is None]
    assert len(played) > 0.9 * len(entries)


def test_a_trace_may_be_refused_also_while_it_is_played(tmp_path: Path) -> None:
    scenario = ENTRIES["sdp_x1_and_x2_together"].build(SMALL, 7)
    write(scenario, tmp_path / "one")
    job = trace_job(tmp_path / "one", SMALL, "rerun")
    assert (job.identity, job.refused, job.refusable) == ("sdp_x1_and_x2_together.7", None, True)
    assert job.make().ops == scenario.ops
    config = own(tmp_path, sdp_bn_enable="false", sdp_bn_throughput="0")
    write(replace(scenario, config="my_build"), tmp_path / "other")
    assert (trace_job(tmp_path / "other", config, "rerun").refused or "").endswith("my_build has no X2")


def test_one_broken_trace_among_others_fails_without_being_played(tmp_path: Path) -> None:
    for name, text in (("one", "reg_read(GLB.S_INTR_STATUS);\n"), ("two", "\nnonsense();\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.cfg").write_text(text, encoding="utf-8")
    paths = [tmp_path / "one", tmp_path / "two"]
    sound, broken = trace_jobs(paths, SMALL, ["again", "again"])
    assert (sound.broken, sound.identity, broken.identity) == (None, "one.0", "two.0")
    assert broken.broken is not None
    assert broken.broken.startswith(f"{tmp_path}/two/two.cfg:2: unknown command nonsense; allowed: ")
    built = cast(Built, None)  # nothing is built or played for it
    result = run_job(broken, Setup(built, DUT, 1.0), tmp_path / "work")
    assert (result.ending, complaints(result.verdict)) == (Ending.BENCH_ERROR, [broken.broken])
    with pytest.raises(TraceError, match=r"^.*two\.cfg:2: unknown command nonsense"):
        trace_jobs(paths[1:], SMALL, ["again"])
