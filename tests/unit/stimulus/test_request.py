"""Where a simulation finds what it is asked to do."""

from __future__ import annotations

import re

import pytest

from nvdla_models.errors import InputError
from nvdla_tb.stimulus.exchange import REQUEST, Request

ASKED = Request("nv_full", scenario="/a/scenario", result="/a/result.json", waves_from="layer:2", cycles=7)


def test_a_request_comes_out_of_the_environment_as_it_went_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUEST, ASKED.encode())
    assert Request.from_env() == ASKED
    assert Request.from_env("nv_small") == ASKED


def test_without_a_request_the_configuration_of_the_test_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUEST, raising=False)
    assert Request.from_env("nv_small") == Request("nv_small")


def test_without_a_request_and_a_configuration_nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUEST, raising=False)
    message = f"{REQUEST} must hold the launcher's request, or a configuration must be given"
    with pytest.raises(InputError, match=rf"^{re.escape(message)}$"):
        Request.from_env()
