"""Short forms of layers: what a test says of a layer, with everything else derived from the sizes.

Each returns a full layer of ``nvdla.layers``, a frozen dataclass: what no argument says, ``dataclasses.replace`` sets.
"""

from nvdla_tb.nvdla.short.cdp import Cdp
from nvdla_tb.nvdla.short.conv import Conv
from nvdla_tb.nvdla.short.moving import Bdma, Rubik
from nvdla_tb.nvdla.short.pdp import Pdp
from nvdla_tb.nvdla.short.sdp import Sdp
