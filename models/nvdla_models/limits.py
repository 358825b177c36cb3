"""Limits of the readers of files and options: a small input never costs gigabytes or hours.

Each limit is far above what real plans, traces and networks need. A reader that meets more refuses it, and its
message names the limit.
"""

from __future__ import annotations

TEXT_BYTES = 1 << 22  # a file of TOML or JSON, or a filelist
SOURCE_BYTES = 1 << 28  # a source of RTL
NESTING = 64  # arrays and tables in TOML and JSON
NUMBER_BITS = 64  # an integer in TOML and JSON, besides the sign: an address is the widest number that there is
NAME_BYTES = 255  # the name of a file
NAME_CHARACTERS = 200  # the name of a scenario, test or bug; names of files end at 255 bytes
LISTED_WORDS = 100_000  # the words of a filelist and of the lists that it includes
FILELIST_DEPTH = 32  # filelists that include each other

TRACE_BYTES = 1 << 28  # the ``.cfg`` of a trace
DATA_BYTES = 1 << 33  # a ``.dat`` file, which takes five bytes of text for each byte of memory
PIECES = 1 << 20  # the packets of a ``.dat`` file that do not continue one another
MEMORY_BYTES = 1 << 30  # the memory that a trace fills, loads or compares
SURFACE_BYTES = 1 << 28  # what a layer reads or writes at one place: more is not computed
DRAWN_BYTES = 1 << 25  # the memory of a scenario that a plan describes or a seed draws
LAYERS = 10_000  # a scenario in a plan

ARRAY_BYTES = 1 << 27  # all arrays of a measured layer, unpacked
RECORD_BYTES = 1 << 30  # all arrays in the record of a failed run, unpacked
ARRAYS = 10_000  # the arrays of an ``.npz`` file
IMAGE_BYTES = 1 << 28  # a PNG file
PIXELS = 1 << 26  # an image: the hardware reads 8192 lines of 8192

PARALLEL = 10_000  # simulations at a time
RUN_TASKS = 100_000  # one run of a regression, whose tasks and results are all in memory when it is concluded
RUN_SEEDS = 10_000  # one run of random scenarios; more are played in runs one after the other
SECONDS = 31_536_000  # a time limit: a year

POINT_BINS = 1_000  # a point of a coverage model
CROSS_BINS = 100_000  # a cross of points

NETWORK_BYTES = 1 << 29  # an ONNX file
NETWORK_NODES = 2_000  # the network in it
VALUE_ELEMENTS = 1 << 24  # one value of the network
NETWORK_MULTIPLICATIONS = 1 << 37  # the network: the largest classifiers of images take a tenth of it
