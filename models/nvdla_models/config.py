"""Scalability parameters of one NVDLA build: no other code holds a literal hardware size."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from nvdla_models.errors import InputError, LackingError
from nvdla_models.precision import Precision
from nvdla_models.reading import read_toml, shown

BUILTIN_DIR = Path(__file__).parent / "configs"

# In the order of the published tables: the position of a name is its bit in the ConfigROM.
# fmt: off
PACKED_IMAGE_FORMATS = (
    "R8", "R10", "R12", "R16", "R16_I", "R16_F",
    "A16B16G16R16", "X16B16G16R16", "A16B16G16R16_F", "A16Y16U16V16", "V16U16Y16A16", "A16Y16U16V16_F",
    "A8B8G8R8", "A8R8G8B8", "B8G8R8A8", "R8G8B8A8", "X8B8G8R8", "X8R8G8B8", "B8G8R8X8", "R8G8B8X8",
    "A2B10G10R10", "A2R10G10B10", "B10G10R10A2", "R10G10B10A2", "A2Y10U10V10", "V10U10Y10A2",
    "A8Y8U8V8", "V8U8Y8A8",
)
SEMI_PLANAR_IMAGE_FORMATS = (
    "Y8___U8V8_N444", "Y8___V8U8_N444", "Y10___U10V10_N444", "Y10___V10U10_N444",
    "Y12___U12V12_N444", "Y12___V12U12_N444", "Y16___U16V16_N444", "Y16___V16U16_N444",
)
# fmt: on

MAX_BURST_LENGTH = 16

# Tables that a file may leave out.
_TABLES = ("register_bits", "register_resets")
_OPTIONAL = (*_TABLES, "configrom")

# The engines that a register map has no addresses for, by the parameter that enables each.
_UNITS_WITHOUT_REGISTERS: dict[str, tuple[str, ...]] = {
    "nv_small": ("secondary_memif_enable", "bdma_enable", "rubik_enable"),
    "scalable_rtl_all_units": (),
    "nv_full": (),
}


class ConfigError(InputError):
    """A configuration that no hardware can have; the message names the parameter and the rule."""


@dataclass(frozen=True)
class HwConfig:
    """The scalability parameters of one build, named as in the scalability document.

    ::

        config = HwConfig.load("nv_small")      # or the path of a TOML file
        config.atom_elements(Precision.INT8)    # 8

    Sizes are in bytes or elements, as their names say; latencies are in clock cycles.
    ``register_bits`` and ``register_resets`` list, by ``UNIT.REGISTER``, where the registers of a build differ from the
    register map: the bits that a register has, if fewer, and its word after reset. ``configrom`` names the built-in
    configuration whose ConfigROM the device has, if not its own. A file may leave these three out.

    Raises:
        ConfigError: on an impossible combination, naming the parameter, the rule and the value.

    Source: scalability document, table of parameters, and the ConfigROM's bit maps for the
        image formats; the nv_full column from the descriptions of "nvdla1" and measurements
        (512 KiB CBUF in 128-byte entries); its registers read off the register files of the
        public nv_full RTL. Where a built-in file departs from the table, the file says why.
    """

    name: str
    register_map: str
    feature_data_types: tuple[Precision, ...]
    weight_data_types: tuple[Precision, ...]
    weight_compression_enable: bool
    winograd_enable: bool
    mac_atomic_c_size: int
    mac_atomic_k_size: int
    memory_atomic_bytes: int
    batch_enable: bool
    max_batch_size: int
    cbuf_bank_number: int
    cbuf_bank_width_bytes: int
    cbuf_bank_depth: int
    secondary_memif_enable: bool
    sdp_lut_enable: bool
    sdp_bs_enable: bool
    sdp_bn_enable: bool
    sdp_ew_enable: bool
    sdp_bs_throughput: int
    sdp_bn_throughput: int
    sdp_ew_throughput: int
    bdma_enable: bool
    rubik_enable: bool
    pdp_enable: bool
    pdp_throughput: int
    cdp_enable: bool
    cdp_throughput: int
    primary_memif_max_burst_length: int
    primary_memif_width_bytes: int
    primary_memif_latency_cycles: int
    secondary_memif_max_burst_length: int
    secondary_memif_width_bytes: int
    secondary_memif_latency_cycles: int
    memif_address_width_bits: int
    image_formats_packed: tuple[str, ...]
    image_formats_semi_planar: tuple[str, ...]
    register_bits: tuple[tuple[str, int], ...] = ()
    register_resets: tuple[tuple[str, int], ...] = ()
    configrom: str = ""

    def __post_init__(self) -> None:
        """Refuse what no hardware can have."""
        for rule in _RULES:
            rule(self)

    def __hash__(self) -> int:
        """Hash the name alone: few configurations share one, and caches ask at every register of a trace."""
        return hash(self.name)

    @classmethod
    def load(cls, name_or_path: str | Path) -> HwConfig:
        """Load a configuration by its built-in name or from a TOML file.

        Args:
            name_or_path: Built-in name, such as ``nv_small``, or path of a ``.toml`` file.

        Raises:
            ConfigError: for an unknown name, an unknown, missing or ill-typed key, or an
                impossible combination.
        """
        text = str(name_or_path)
        if text in builtin_names():
            return _load_builtin(text)
        path = Path(name_or_path)
        if path.suffix != ".toml" or not os.path.isfile(path):
            known = ", ".join(builtin_names())
            close = get_close_matches(text, builtin_names(), 1)
            nearest = f"; the nearest name is {close[0]}" if close else ""
            raise ConfigError(
                f"configuration must be one of {known} or an existing .toml file, not {shown(text)}{nearest}"
            )
        return _load_file(path)

    def check_has(self, unit: str, parameter: str) -> None:
        """Refuse a unit that this configuration lacks.

        Raises:
            LackingError: naming the built-in configurations with the unit, unless ``parameter`` enables it.
        """
        if not getattr(self, parameter):
            having = ", ".join(name for name in builtin_names() if getattr(_load_builtin(name), parameter))
            raise LackingError(f"{unit} must not be used: {self.name} has none; configurations with {unit}: {having}")

    def atom_elements(self, precision: Precision) -> int:
        """Elements of ``precision`` in one memory atom."""
        return self.memory_atomic_bytes // precision.nbytes

    @property
    def pdp_int8_sum_bits(self) -> int:
        """Bits in which PDP sums a window of INT8; two such sums share the register of one of INT16.

        Source: measured on the public nv_small and nv_full RTL.
        """
        return 14 if Precision.INT16 in self.feature_data_types else 15

    def kernel_group_size(self, precision: Precision) -> int:
        """Kernels in one full kernel group: ATOMIC_K for INT8, half of it for 16-bit weights."""
        return self.mac_atomic_k_size // precision.nbytes


def builtin_names() -> tuple[str, ...]:
    """Names of the built-in configurations, sorted."""
    return tuple(sorted(path.stem for path in BUILTIN_DIR.glob("*.toml")))


@cache
def _load_builtin(name: str) -> HwConfig:
    return _load_file(BUILTIN_DIR / f"{name}.toml")


def _load_file(path: Path) -> HwConfig:
    raw = read_toml(path, ConfigError)
    wanted = {f.name: str(f.type) for f in fields(HwConfig) if f.name != "name"}
    for key in raw:
        if key not in wanted:
            raise ConfigError(f"{path}: unknown key {key}; allowed: {', '.join(sorted(wanted))}")
    missing = [key for key in wanted if key not in raw and key not in _OPTIONAL]
    if missing:
        raise ConfigError(f"{path}: missing key {', '.join(missing)}")
    try:
        return HwConfig(name=path.stem, **{key: _checked(key, wanted[key], raw[key]) for key in wanted if key in raw})
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _checked(key: str, kind: str, value: Any) -> Any:
    """Return a TOML value as the type of the field ``key``, or refuse it."""
    if key in _TABLES:
        return _words(key, value)
    if kind.startswith("tuple"):
        return _names(key, kind, value)
    expected = {"int": int, "bool": bool, "str": str}[kind]
    if type(value) is not expected:
        raise ConfigError(f"{key} must be {kind}, not {value!r}")
    return value


def _words(key: str, value: Any) -> tuple[tuple[str, int], ...]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{key} must be a table of words by UNIT.REGISTER, not {value!r}")
    for name, word in value.items():
        if type(word) is not int or not 0 <= word < 1 << 32:
            raise ConfigError(f"{key}: {name} must be a word of 32 bits, not {word!r}")
    return tuple(value.items())


def _names(key: str, kind: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list) or any(type(name) is not str for name in value):
        raise ConfigError(f"{key} must be a list of names, not {value!r}")
    if "Precision" not in kind:
        return tuple(value)
    for name in value:
        if name not in Precision.__members__:
            raise ConfigError(f"{key} must hold only names of {', '.join(Precision.__members__)}, not {name}")
    return tuple(Precision[name] for name in value)


def _names_known_and_once(config: HwConfig) -> None:
    for key in ("feature_data_types", "weight_data_types"):
        precisions = getattr(config, key)
        if not precisions:
            raise ConfigError(f"{key} must hold at least one data type")
        _each_once(key, [precision.name for precision in precisions])
    for key, table in (
        ("image_formats_packed", PACKED_IMAGE_FORMATS),
        ("image_formats_semi_planar", SEMI_PLANAR_IMAGE_FORMATS),
    ):
        names = getattr(config, key)
        for name in names:
            if name not in table:
                raise ConfigError(f"{key} must hold only names of {', '.join(table)}, not {name}")
        _each_once(key, names)


def _each_once(key: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{key} must hold each name once, not {name} {names.count(name)} times")


def _configrom_known(config: HwConfig) -> None:
    if config.configrom and config.configrom not in builtin_names():
        raise ConfigError(f"configrom must be one of {', '.join(builtin_names())}, not {shown(config.configrom)}")


def _positive(config: HwConfig) -> None:
    for key in ("primary_memif_max_burst_length", "primary_memif_latency_cycles"):
        value = getattr(config, key)
        if value < 1:
            raise ConfigError(f"{key} must be at least 1, not {value}")


def _power_of_two(config: HwConfig) -> None:
    keys = [
        "mac_atomic_c_size",
        "mac_atomic_k_size",
        "memory_atomic_bytes",
        "cbuf_bank_number",
        "cbuf_bank_width_bytes",
        "cbuf_bank_depth",
        "primary_memif_width_bytes",
    ]
    if config.secondary_memif_enable:
        keys.append("secondary_memif_width_bytes")
    for key in keys:
        value = getattr(config, key)
        if value <= 0 or value & (value - 1):
            raise ConfigError(f"{key} must be a power of two, not {value}")


def _sizes_hold_the_widest_type(config: HwConfig) -> None:
    widest = max(p.nbytes for p in (*config.feature_data_types, *config.weight_data_types))
    for key, noun in (("memory_atomic_bytes", "element"), ("mac_atomic_k_size", "kernel")):
        value = getattr(config, key)
        if value < widest:
            raise ConfigError(f"{key} must be at least {widest} to hold one {8 * widest}-bit {noun}, not {value}")
    if config.cbuf_bank_width_bytes < config.mac_atomic_c_size:
        raise ConfigError(
            f"cbuf_bank_width_bytes must be at least the {config.mac_atomic_c_size} bytes of mac_atomic_c_size "
            f"INT8 channels, not {config.cbuf_bank_width_bytes}"
        )


def _port_and_lut(config: HwConfig) -> None:
    for key in ("primary_memif_max_burst_length", "secondary_memif_max_burst_length"):
        value = getattr(config, key)
        if value > MAX_BURST_LENGTH:
            raise ConfigError(f"{key} must be at most {MAX_BURST_LENGTH}, which the 4-bit len counts, not {value}")
    if config.memif_address_width_bits not in (32, 40, 64):
        raise ConfigError(f"memif_address_width_bits must be 32, 40 or 64, not {config.memif_address_width_bits}")
    if config.sdp_lut_enable and not config.sdp_ew_enable:
        raise ConfigError("sdp_lut_enable must be false when sdp_ew_enable is false: the LUT is part of Y")


def _register_map(config: HwConfig) -> None:
    if config.register_map not in _UNITS_WITHOUT_REGISTERS:
        allowed = ", ".join(_UNITS_WITHOUT_REGISTERS)
        raise ConfigError(f"register_map must be one of {allowed}, not {config.register_map}")
    for key in _UNITS_WITHOUT_REGISTERS[config.register_map]:
        if getattr(config, key):
            raise ConfigError(f"{key} must be false: register map {config.register_map} has no such unit")


def _parameters_follow_enables(config: HwConfig) -> None:
    """A parameter of a unit that is absent is 0, of one that is present at least 1."""
    for enable, names in (
        ("batch_enable", ("max_batch_size",)),
        ("sdp_bs_enable", ("sdp_bs_throughput",)),
        ("sdp_bn_enable", ("sdp_bn_throughput",)),
        ("sdp_ew_enable", ("sdp_ew_throughput",)),
        ("pdp_enable", ("pdp_throughput",)),
        ("cdp_enable", ("cdp_throughput",)),
        (
            "secondary_memif_enable",
            ("secondary_memif_max_burst_length", "secondary_memif_width_bytes", "secondary_memif_latency_cycles"),
        ),
    ):
        present = getattr(config, enable)
        for key in names:
            value = getattr(config, key)
            if present and value < 1:
                raise ConfigError(f"{key} must be at least 1 when {enable} is true, not {value}")
            if not present and value != 0:
                raise ConfigError(f"{key} must be 0 when {enable} is false, not {value}")


# Order matters: a rule may rely on those before it.
_RULES = (
    _register_map,
    _names_known_and_once,
    _configrom_known,
    _parameters_follow_enables,
    _power_of_two,
    _positive,
    _sizes_hold_the_widest_type,
    _port_and_lut,
)
