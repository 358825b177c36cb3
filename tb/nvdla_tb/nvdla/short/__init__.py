"""Short forms of layers: a test states the operation, and everything else follows from the sizes.

Each function returns a full layer of ``nvdla.layers``, a frozen dataclass. Use ``dataclasses.replace`` for fields that
have no argument. The functions are named like classes because each stands for one.
"""

from nvdla_tb.nvdla.short.cdp import Cdp
from nvdla_tb.nvdla.short.conv import Conv
from nvdla_tb.nvdla.short.moving import Bdma, Rubik
from nvdla_tb.nvdla.short.pdp import Pdp
from nvdla_tb.nvdla.short.sdp import Sdp
