"""Settings refuse what they do not know."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nvdla_tb.stimulus.settings import BenchSettings, PortSettings, SettingsError

PORT = (
    "latency_cycles, jitter_cycles, ready_stall, valid_stall, reorder, write_latency_cycles, pause_cycles, "
    "pause_period_cycles, pause_channels"
)
BENCH = (
    "port, csb_stall, csb_outstanding, csb_period, csb_phase, "
    "serve_interrupts, reset_cycle, poison_reads, stray_accesses, unmapped_accesses, hang_cycles, "
    "poll_deadline_cycles, continue_on_fail, exact, stop_at_first, saturated_reads, saturated_writes, limits_reached"
)


def test_settings_survive_plain_data() -> None:
    settings = BenchSettings(
        PortSettings(7, 3, 0.5, 0.25, True, 900, 80, 100, "aw b"), csb_stall=0.125, poison_reads="count", hang_cycles=9
    )
    assert BenchSettings.from_dict(settings.to_dict()) == settings
    assert BenchSettings.from_dict({}) == BenchSettings()
    assert BenchSettings.from_dict({"port": {"jitter_cycles": 3}}).port == PortSettings(jitter_cycles=3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"speed": 1}, f"settings has no key speed; allowed: {BENCH}"),
        ({"port": {"lag": 1}}, f"settings.port has no key lag; allowed: {PORT}"),
        ({"port": 3}, "settings.port must be a table of keys, not 3"),
        ({"port": {"latency_cycles": -1}}, "latency_cycles must be 0 to 65535, not -1"),
        ({"port": {"jitter_cycles": 65536}}, "jitter_cycles must be 0 to 65535, not 65536"),
        ({"port": {"ready_stall": 1.0}}, "ready_stall must be a probability below 1, not 1.0"),
        ({"port": {"valid_stall": float("nan")}}, "valid_stall must be a probability below 1, not nan"),
        ({"port": {"reorder": "no"}}, "reorder must be bool, not 'no'"),
        ({"port": {"latency_cycles": "5"}}, "latency_cycles must be int or none, not '5'"),
        ({"port": {"jitter_cycles": 1.5}}, "jitter_cycles must be int, not 1.5"),
        ({"port": {"write_latency_cycles": 65536}}, "write_latency_cycles must be 0 to 65535, not 65536"),
        ({"port": {"pause_period_cycles": -1}}, "pause_period_cycles must be 0 to 65535, not -1"),
        (
            {"port": {"pause_cycles": 9, "pause_period_cycles": 9}},
            "pause_cycles must be at least 0 and below pause_period_cycles (9), not 9",
        ),
        ({"port": {"pause_channels": "aw z"}}, "pause_channels must be of ar, aw, w, r, b, not z"),
        ({"csb_stall": -0.5}, "csb_stall must be a probability below 1, not -0.5"),
        ({"csb_stall": True}, "csb_stall must be int or float, not True"),
        ({"poison_reads": "warn"}, "poison_reads must be error or count, not warn"),
        ({"stray_accesses": "ignore"}, "stray_accesses must be error or count, not ignore"),
        ({"unmapped_accesses": "ignore"}, "unmapped_accesses must be error or count, not ignore"),
        ({"hang_cycles": 0}, "hang_cycles must be at least 1, not 0"),
        ({"csb_period": 0.01}, "csb_period must be 0.05 to 20.0, not 0.01"),
        ({"csb_phase": -0.5}, "csb_phase must be at least 0 and below 20.0, not -0.5"),
        ({"serve_interrupts": 1}, "serve_interrupts must be bool, not 1"),
        ({"reset_cycle": 0}, "reset_cycle must be at least 1, not 0"),
        ({"csb_outstanding": 4}, "csb_outstanding must be 1 to 3, not 4"),
        ({"saturated_writes": "1 5"}, "saturated_writes must be of 1, 2, 3, not 5"),
        ({"poll_deadline_cycles": 0}, "poll_deadline_cycles must be at least 1, not 0"),
    ],
)
def test_bad_settings_are_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{re.escape(message)}$"):
        BenchSettings.from_dict(data)
