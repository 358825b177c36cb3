from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlhdl_models.layout import DlhdlType
from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.system import DLHDL
from nvdla_models.errors import InputError
from nvdla_tb.run.nvdla import NVDLA
from nvdla_tb.run.systems import system_of

OWN = 'system = "dlhdl"\nconv_thread_number = 25\ndata_type = "single"\nregisters = "dut_addr.h"\n'


@pytest.mark.parametrize(
    ("number", "threads", "parallel", "bytes_int8"), [(4, 2, 2, 2), (9, 3, 4, 4), (16, 4, 4, 4), (64, 8, 8, 8)]
)
def test_an_embedded_core_has_the_widths_of_the_document(
    number: int, threads: int, parallel: int, bytes_int8: int
) -> None:
    config = DlhdlConfig.load(f"dlhdl_int8_{number}")
    assert (config.threads, config.parallel, config.beat_bytes) == (threads, parallel, bytes_int8)
    assert config.alignment_bytes == 16
    assert config.parameters == {"CONV_THREAD_NUMBER": number, "DATA_TYPE": 0}
    assert DlhdlConfig.load(f"dlhdl_single_{number}").beat_bytes == 4 * parallel


def test_single_with_eight_values_a_beat_aligns_to_32_bytes() -> None:
    assert DlhdlConfig.load("dlhdl_single_64").alignment_bytes == 32


def test_the_system_s_name_stands_for_all_embedded_cores() -> None:
    assert len(DLHDL.configs("dlhdl")) == 8
    assert [config.name for config in DLHDL.configs("dlhdl_single_9")] == ["dlhdl_single_9"]
    assert system_of("dlhdl") is system_of("dlhdl_int8_4") is DLHDL
    assert system_of("nv_small") is NVDLA


def test_a_file_describes_a_core_of_one_s_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OWN)
    config = DlhdlConfig.load(str(path))
    assert (config.name, config.threads, config.data_type) == ("mine", 5, DlhdlType.SINGLE)
    assert config.header == tmp_path / "dut_addr.h"
    assert system_of(str(path)) is DLHDL


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"dlhdl"', '"nvdla"', "{}: system must be dlhdl, not nvdla"),
        ("25", '"25"', "{}: conv_thread_number must be an integer, not '25'"),
        ('"single"', '"half"', "{}: data_type must be one of single, int8, not half"),
        ("registers", "header", "{}: header is unknown; allowed: system, conv_thread_number, data_type, registers"),
    ],
)
def test_a_file_that_describes_none_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OWN.replace(old, new))
    with pytest.raises(InputError, match=rf"^{re.escape(message.format(path))}$"):
        DlhdlConfig.load(str(path))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"or an existing \.toml file, not dlhdl_int8_5$"):
        DlhdlConfig.load("dlhdl_int8_5")
