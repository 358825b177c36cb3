"""``network``: play a network and judge every layer."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from nvdla_models.config import HwConfig
from nvdla_networks.compiler.calibration import Calibration
from nvdla_networks.compiler.prepare import parse_shape
from nvdla_networks.errors import NetworkError
from nvdla_networks.golden_trace import with_golden
from nvdla_networks.images import Preparation, parse_mean, read_golden
from nvdla_networks.layers import layers_of
from nvdla_networks.model import ACCURACY, LoadableModel, OnnxModel, load_model
from nvdla_networks.network import HardwareTask, Network
from nvdla_networks.network_junit import write_junit
from nvdla_networks.network_page import network_page
from nvdla_networks.network_report import Outcome, report_of
from nvdla_networks.network_text import cycles_of, print_report, write_json, write_results
from nvdla_networks.order import Order
from nvdla_networks.prediction import predictions_of
from nvdla_networks.scenario import NetworkScenario, Run, play_networks, results_of, why_incomplete
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import again, anywhere, build_dut, dut_arguments
from nvdla_tb.cli.dut_options import BUILD_ROOT, add_dut_options
from nvdla_tb.cli.earlier import cycles_before, slower_than_before
from nvdla_tb.cli.parsing import Renamed
from nvdla_tb.cli.playing import (
    alone_in,
    check_model_only,
    dump_folder,
    prepared,
    remove_earlier_file,
    setup_of,
)
from nvdla_tb.cli.run_options import add_run_options, output_file
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import DUMP_FILE, Range
from nvdla_tb.nvdla.timing import Machine, WhatIf
from nvdla_tb.paths import COMMAND
from nvdla_tb.run import folders
from nvdla_tb.run.explained import explain_folder
from nvdla_tb.run.jobs import Job, run_jobs
from nvdla_tb.run.space import write_whole
from nvdla_tb.run.systems import refuse
from nvdla_tb.stimulus.model import Played, play_model
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.trace import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    several: dict[str, Any] = {"nargs": "+", "type": Path, "default": [], "metavar": "FILE"}
    parser.add_argument("model", type=Path, metavar="MODEL", help="loadable of the public compiler, or .onnx")
    parser.add_argument(
        "--image",
        **several,
        help="inputs, each a run of the network: .pgm, .png, .jpg, .npy, .npz or .dimg (default: zeros)",
    )
    parser.add_argument("--model-only", action="store_true", help="no simulator: the reference model alone")
    parser.add_argument("--golden", **several, help="expected results, .dimg or .npy, one for each run")
    parser.add_argument("--until", metavar="LAYER", help="stop after this layer, by its number or name in the table")
    parser.add_argument(
        "--schedule",
        choices=[order.value for order in Order],
        default=Order.APART.value,
        help="several images: each when the one before has ended (apart, default), as soon as engines are free "
        "(image), or all of them through a layer before the next (layer)",
    )
    parser.add_argument("--save-trace", type=Path, metavar="FOLDER", help="save the scenario as a trace")
    parser.add_argument("--save-results", type=Path, metavar="FOLDER", help="save the results as .dimg and .npy")
    parser.add_argument("--results", action=Renamed, now="--save-results", type=Path)
    parser.add_argument("--html", type=output_file, metavar="FILE", help="write a page about the network")
    parser.add_argument("--junit", type=output_file, metavar="FILE", help="write JUnit XML")
    parser.add_argument(
        "--classes", type=int, default=3, metavar="N", help="classes to print of each result (default: 3)"
    )
    group = parser.add_argument_group("ONNX")
    about = "calibration inputs: pictures, or .npy (default: those of --image, or random ones)"
    group.add_argument("--samples", **several, help=about)
    group.add_argument(
        "--shape",
        action="append",
        type=parse_shape,
        default=[],
        metavar="INPUT=SIZES",
        help="sizes of an input that the file leaves free, such as input=1x3x224x224",
    )
    group.add_argument("--on-device", action="store_true", help="fail when a node has to run on the host")
    group.add_argument(
        "--precision",
        action="append",
        default=[],
        metavar="[NODE=]TYPE",
        help="type of all elements, or of a node, layer or pattern, such as conv7=int16: int8 (default), int16 "
        "or fp16; conv7=host leaves it to the host",
    )
    group.add_argument(
        "--per-tensor", action="store_true", help="one scale for each layer (default: one for each kernel)"
    )
    group.add_argument(
        "--calibration",
        choices=[calibration.value for calibration in Calibration],
        help="what of the samples integers must hold: all (default), all but outliers, or most information",
    )
    group.add_argument(
        "--accuracy",
        type=numbers.part,
        metavar="COSINE",
        help=f"fail below this cosine between results and floating point (default: {ACCURACY}; 0: never)",
    )
    group = parser.add_argument_group("pictures")
    group.add_argument("--mean", default="0", metavar="M[,M,M]", help="subtracted from each pixel (default: 0)")
    group.add_argument("--normalize", type=float, default=1.0, metavar="N", help="divisor of each pixel")
    group.add_argument("--invert", action="store_true", help="invert each pixel: 255 minus its value")
    group.add_argument("--rgb", action="store_true", help="the first channel is red (default: blue)")
    parser.add_argument(
        "--what-if",
        action="append",
        default=[],
        metavar="PART=N",
        help="with --performance: predict for memory, latency or macs times N, such as memory=2x",
    )
    add_dut_options(parser)
    add_run_options(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    refuse([args.model])
    if args.model_only:
        check_model_only(args, ("performance",))
    before = cycles_before(args)
    config = HwConfig.load(args.config)
    what_if = WhatIf.parse(args.what_if)
    machine = Machine.of(config, what_if=what_if)
    if args.what_if and not args.performance:
        raise NetworkError("--what-if must be left out without --performance")
    if args.what_if and machine is None:
        raise NetworkError(f"--what-if must be left out for {config.name}: only nv_small's cycles were measured")
    model, playing = networks_of(args, config)
    if args.golden and args.until is not None:
        raise NetworkError("--golden must be left out with --until, which ends before the results")
    goldens = [read_golden(path) for path in args.golden]
    if goldens and len(goldens) != len(playing.runs):
        raise NetworkError(f"--golden must name {len(playing.runs)} files, one for each run, not {len(goldens)}")
    for path in (args.json, args.html):
        remove_earlier_file(path)
    dumps = dump_folder(args.dump, playing.scenario.name) if args.model_only and args.dump is not None else None
    played = play_model(playing.scenario, config, dumps) if playing.runs_layers else Played(Verdict())
    if played.verdict.refused is not None:
        played.verdict.refused = model.why_not(played.verdict.refused)
    if args.save_trace:
        saved = write(with_golden(playing.scenario, played), args.save_trace)
        print(f"trace: {saved}" + ("" if played.verdict.refused is None else ", without golden results"))
    expected = [] if played.verdict.refused else results_of(played, playing)
    result, got = None, None
    if not args.model_only and playing.runs_layers and played.verdict.refused is None:
        result = _simulate(args, config, playing)
        dump = None if result.folder is None else Path(result.folder) / DUMP_FILE
        if dump is not None and dump.is_file():
            got = results_of(played, playing, dump)
    # A network that is refused, stops, or ends before its results, has none.
    accuracy = None if args.until is not None or why_incomplete(played) is not None else model.accuracy()
    labels = [path.name for path in args.image] or ["zeros"]
    report = report_of(
        playing,
        labels,
        played,
        result,
        expected,
        got,
        goldens,
        accuracy,
        model.share,
        predictions_of(playing, played, machine) if args.performance else None,
    )
    more = slower_than_before(args, cycles_of(report), before)
    if not (args.model_only or playing.runs_layers):
        more = [*more, "nothing is played: the host computes all nodes, which --model-only does without a device"]
    report = replace(report, problems=(*report.problems, *more))
    print_report(report, args.classes, performance=args.performance)
    if args.save_results:
        write_results(args.save_results, playing, got or expected)
    if args.json:
        write_json(report, args.json)
    if args.junit:
        write_junit(report, args.junit)
    if args.html:
        folder = None if result is None or report.first_wrong is None else result.folder
        explanations = [] if folder is None else explain_folder(Path(folder), args.config, 1)
        write_whole(args.html, network_page(report, config, explanations))
        print(f"page: {args.html}")
    return 1 if report.outcome is Outcome.FAILED else 0


def networks_of(args: argparse.Namespace, config: HwConfig) -> tuple[LoadableModel | OnnxModel, NetworkScenario]:
    """Return the model that the options name, and what they ask to be played of it.

    Raises:
        NetworkError: for a model or an image that cannot be, or a layer that does not exist.
    """
    model = load_model(args, config, Preparation(parse_mean(args.mean), args.normalize, args.invert, args.rgb))
    networks, inputs = zip(*(model.run(path) for path in args.image or [None]), strict=True)
    last = None if args.until is None else last_operation(networks[0], args.until)
    playing = play_networks(
        model.network.name, networks, inputs, last=last, counts=args.performance, order=Order(args.schedule)
    )
    if args.exact:
        settings = msgspec.structs.replace(playing.scenario.settings, exact=True)
        playing = replace(playing, scenario=replace(playing.scenario, settings=settings))
    return model, playing


def last_operation(network: Network, layer: str) -> str:
    """Return the operation that a layer ends with; the layer is named by its number, its name or one of its operations.

    Raises:
        NetworkError: when there is none.
    """
    hardware = tuple(task for task in network.tasks if isinstance(task, HardwareTask))
    layers = layers_of([Run(network, hardware, ())])
    for number, found in enumerate(layers):
        operations = found.name.split("+")
        if layer in (str(number), found.name, *operations):
            return operations[-1].partition(".")[0]
    names = ", ".join(found.name for found in layers)
    raise NetworkError(f"--until must be 0 to {len(layers) - 1} or one of {names}, not {layer}")


def _simulate(args: argparse.Namespace, config: HwConfig, playing: NetworkScenario) -> Result:
    """Play the scenario on the RTL."""
    built = build_dut(args, config, waves=args.waves)
    observed = [tensor for run in playing.runs for tensor in run.observed]
    job = Job(
        playing.scenario.name,
        playing.scenario.seed,
        _rerun(args),
        lambda: playing.scenario,
        dump=tuple(Range(t.ram, t.address, t.nbytes) for t in observed),
    )
    root = folders.made(BUILD_ROOT, "runs", "network")
    with alone_in(root):
        setup = setup_of(args, args, built)
        ((_, result),) = run_jobs(prepared(args, [job]), setup, root, workers=1, isolated=args.isolate)
    return result


def _rerun(args: argparse.Namespace) -> str:
    pictures = [option for option, default in (("mean", "0"), ("normalize", 1.0)) if getattr(args, option) != default]
    ordered = ["schedule"] if args.schedule != Order.APART.value else []
    options = ("image", "samples", "golden", "until", *ordered, *pictures, "accuracy", "invert", "rgb")
    shapes = [word for name, sizes in args.shape for word in ("--shape", f"{name}={'x'.join(map(str, sizes))}")]
    shapes += [word for text in args.precision for word in ("--precision", text)]
    words = [anywhere(args.model), *again(args, *options, "calibration", "per_tensor", "on_device"), *shapes]
    return f"{COMMAND} network {shlex.join(words)} {dut_arguments(args)}"
