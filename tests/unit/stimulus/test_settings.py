"""Settings refuse what they do not know, from files and from Python alike."""

from __future__ import annotations

import re

import msgspec
import pytest

from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings, SettingsError


def test_settings_survive_plain_data() -> None:
    settings = BenchSettings(
        PortSettings(7, 3, 0.5, 0.25, True, 900, 80, 100, "aw b"), csb_stall=0.125, poison_reads="count", hang_cycles=9
    )
    assert converted(msgspec.to_builtins(settings), BenchSettings, "settings") == settings
    assert converted({}, BenchSettings, "settings") == BenchSettings()
    port = converted({"port": {"jitter_cycles": 3}}, BenchSettings, "settings").port
    assert port == PortSettings(jitter_cycles=3)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"jitter_cycles": 1.5}, "jitter_cycles must be an integer from 0 to 65535, not 1.5"),
        ({"valid_stall": float("nan")}, "valid_stall must be a number of at least 0.0 and below 1.0, not nan"),
        ({"reorder": "no"}, "reorder must be true or false, not 'no'"),
        (
            {"pause_cycles": 9, "pause_period_cycles": 9},
            "pause_cycles must be at least 0 and below pause_period_cycles (9), not 9",
        ),
        ({"pause_channels": "aw z"}, "pause_channels must be of ar, aw, w, r, b, not z"),
    ],
)
def test_bad_settings_of_a_port_are_refused(keys: dict[str, object], message: str) -> None:
    make = PortSettings
    with pytest.raises(SettingsError, match=rf"^{re.escape(message)}$"):
        make(**keys)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=rf"^it: (port\.)*{re.escape(message)}$"):
        converted({"port": keys}, BenchSettings, "it", SettingsError)


def test_clients_of_the_memory_interface_are_those_that_are_judged() -> None:
    with pytest.raises(SettingsError, match=r"^saturated_writes must be of 1, 2, 3, not 5$"):
        BenchSettings(saturated_writes="1 5")
    with pytest.raises(SettingsError, match=r"^saturated_reads must be of 1, 2, 3, 5, 6, 8, 9, not 4$"):
        BenchSettings(saturated_reads="1 4")
