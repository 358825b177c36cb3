"""Every rule of a wrapped NVDLA's ports is shown a device that breaks it, and an access that never ends is a hang."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import CsbViolation, NoAnswer, PortViolation
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.judge.wrapped_rules import APB_RULES, AXI4_RULES, AXI_LITE_RULES, BROKEN
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.stimulus.generate.plan import PlanEntry
from tests.sim.conftest import SMALL_DEVICES, build_unoptimised, played

CONFIG = HwConfig.load("nv_small")
SETTINGS = {"hang_cycles": 1000, "port": {"latency_cycles": 5, "ready_stall": 0.7}}
LAYER = {"engine": "SDP", "shape": [8, 2, 2]}
SCENARIO = PlanEntry("it", "", "nv_small", {"settings": SETTINGS, "layer": [LAYER]}).build(CONFIG, 1)
SOURCE = Path(__file__).with_name("wrapped_device.v")
INPUTS = (
    *("global_clk_ovr_on", "tmc2slcg_disable_clock_gating", "direct_reset_", "test_mode"),
    *(f"nvdla_pwrbus_ram_{name}_pd" for name in ("c", "ma", "mb", "p", "o", "a")),
)
COMMON = (
    f"absent = {list(INPUTS)}\n[ports]\ndla_core_clk = 'aclk'\ndla_csb_clk = 'pclk'\ndla_reset_rstn = 'aresetn'\n"
    "dla_intr = 'irq'\n"
)
MAPS = {
    "apb": f"{COMMON}[drive]\npresetn = 'dla_reset_rstn'\n[csb]\nkind = 'apb'\n[dbb]\nkind = 'axi4'\n",
    "axi_lite": f"{COMMON}[csb]\nkind = 'axi-lite'\npins = 's_{{pin}}'\n[dbb]\nkind = 'axi4'\npins = 'm_{{pin}}'\n",
}
"""By device, its ports."""

MEMORY_BIT = 8
NEVER = 1 << 31
APB = {f"apb: {rule}": (1 << n, ("broken_apb", n)) for n, rule in enumerate(APB_RULES)}
AXI4 = {f"axi4: {rule}": (1 << n + MEMORY_BIT, ("broken_mc", n)) for n, rule in enumerate(AXI4_RULES)}
AXI_LITE = {f"axi-lite: {rule}": (1 << n, ("broken_axi_lite", n)) for n, rule in enumerate(AXI_LITE_RULES)}
FAULTS = {"apb": APB | AXI4, "axi_lite": AXI_LITE}
"""By device, what is broken: the device's fault, and the rule that must be found."""

NEEDS_X = ("broken_apb", 1), ("broken_axi_lite", 9)
"""Rules of pins that are X, which Verilator does not know."""


@pytest.fixture(scope="module", params=SMALL_DEVICES)
def devices(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    """Both devices on Icarus, and that with a memory on the native back end: what differs there is not the shims."""
    simulator, backend = request.param
    folder = tmp_path_factory.mktemp("devices")
    (folder / "device.f").write_text(f"{SOURCE}\n")
    built = {}
    for name, text in MAPS.items():
        if backend == "native" and name != "apb":
            continue
        port_map = folder / f"{name}.toml"
        port_map.write_text(text)
        spec = BuildSpec(CONFIG, simulator, f"device_{name}", folder / "device.f", port_map, backend=backend)
        built[name] = build_unoptimised(spec)
    return built


def judged(devices: dict[str, Built], name: str, folder: Path, faults: int) -> Verdict:
    """Play the scenario on a device with faults and return the verdict."""
    if name not in devices:
        pytest.skip("coroutine back end only: it takes a build of its own")
    return played(devices[name], folder, SCENARIO, f"+faults={faults:x}").verdict


def broken(verdict: Verdict) -> set[tuple[str, int]]:
    """Return the rules of the shims that are found broken, each with a cycle."""
    found = set()
    for finding in verdict.findings:
        for pin, (ram, first, count) in BROKEN.items():
            details = [CsbViolation(first + n) if ram is None else PortViolation(ram, first + n) for n in range(count)]
            if finding.detail in details:
                assert finding.check is Check.PROTOCOL
                assert finding.cycle is not None
                found.add((pin, details.index(finding.detail)))
    return found


@pytest.mark.parametrize(
    ("device", "fault", "rule"),
    [
        pytest.param(device, fault, rule, id=name)
        for device, faults in FAULTS.items()
        for name, (fault, rule) in faults.items()
    ],
)
def test_a_broken_rule_is_found_and_no_other(
    devices: dict[str, Built], tmp_path: Path, device: str, fault: int, rule: tuple[str, int]
) -> None:
    if all(built.spec.native for built in devices.values()):
        pytest.skip("the native back end is shown all at once")
    assert broken(judged(devices, device, tmp_path, fault)) == {rule}


@pytest.mark.parametrize("device", FAULTS)
def test_all_rules_that_are_broken_are_found_at_once(devices: dict[str, Built], tmp_path: Path, device: str) -> None:
    known = [(fault, rule) for fault, rule in FAULTS[device].values() if rule not in NEEDS_X]
    faults = sum(fault for fault, _ in known)
    assert broken(judged(devices, device, tmp_path, faults)) == {rule for _, rule in known}


@pytest.mark.parametrize("device", FAULTS)
def test_a_sound_device_breaks_no_rule(devices: dict[str, Built], tmp_path: Path, device: str) -> None:
    assert broken(judged(devices, device, tmp_path, 0)) == set()


@pytest.mark.parametrize("device", FAULTS)
def test_an_access_that_never_ends_is_a_hang(devices: dict[str, Built], tmp_path: Path, device: str) -> None:
    verdict = judged(devices, device, tmp_path, NEVER)
    assert verdict.ending is Ending.HANG
    (lost,) = [finding.detail for finding in verdict.findings if isinstance(finding.detail, NoAnswer)]
    assert lost.accepted
    assert lost.access.startswith("write of ")
