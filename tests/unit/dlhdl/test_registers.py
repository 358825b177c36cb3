from __future__ import annotations

import re

import pytest

from dlhdl_tb.registers import RegisterMap
from nvdla_models.errors import InputError

HEADER = """\
/* registers of the core, 0x1 */
#ifndef DUT_IPCORE_H_
#define DUT_IPCORE_H_
#define  IPCore_Reset_dut_ipcore       0x0  // write 0x1
#define  inputStart_Data_dut_ipcore    0x224  //data register
#define  done_Data_dut_ipcore  544
#endif
"""


def test_names_are_those_of_the_report_and_the_guard_is_no_register() -> None:
    registers = RegisterMap.parse(HEADER, "x_addr.h")
    assert registers.offsets == {"IPCore_Reset": 0, "inputStart": 0x224, "done": 0x220}
    assert registers.offset("done") == 0x220


def test_a_core_without_data_in_its_names_is_read() -> None:
    assert RegisterMap.parse("#define a_c 0x0\n#define b_d_c 0x4\n", "x").offsets == {"a": 0, "b_d": 4}


def test_an_unknown_register_is_refused_with_the_closest() -> None:
    with pytest.raises(InputError, match=r"^x\.h has no register inputstart; closest: inputStart$"):
        RegisterMap.parse(HEADER, "x.h").offset("inputstart")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#define a_c 0x0", "x must define at least 2 registers, not 1"),
        ("#define a_c 0x0\n#define b_c (1)", "x: b must be a number of at most 16 digits, not (1)"),
        (f"#define a_c 0x0\n#define b_c {'9' * 17}", f"x: b must be a number of at most 16 digits, not {'9' * 17}"),
        ("#define a_c 0x0\n#define b_c 0x6", "x: b must be a multiple of 4 below 0x10000, not 0x6"),
        ("#define a_c 0x0\n#define b_c 0x10000", "x: b must be a multiple of 4 below 0x10000, not 0x10000"),
        ("#define a_c 0x0\n#define a_Data_c 0x4", "x: a must be defined once"),
        ("#define a_c 0x4\n#define b_c 0x4", "x: b must not have the offset 0x4 of a"),
    ],
)
def test_a_header_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"^{re.escape(message)}$"):
        RegisterMap.parse(text, "x")
