"""What is said of a network, a line for each fact: accuracy, what ran where, and comparisons."""

from __future__ import annotations

from nvdla_networks.compiler.reading import HostNode
from nvdla_networks.network_report import Report
from nvdla_networks.order import Order


def accuracy_lines(report: Report) -> list[str]:
    """Return what the numbers of the hardware cost each output against floating point, or why nothing is known."""
    if report.accuracy is None:
        return ["against floating point: not measured"]
    lines = []
    for output in report.accuracy.outputs:
        cosine = "none" if output.cosine is None else f"{output.cosine:.5f}"
        parts = [f"cosine {cosine}", f"largest error {output.largest:.1%}", f"off by {output.error:.1%}"]
        if output.same_class is not None:
            parts.append(f"same class for {output.same_class} of {output.samples}")
        head = f"{output.name} against floating point, {output.samples} sample{'s' * (output.samples > 1)}"
        lines.append(f"{head}: {', '.join(parts)}")
    if (line := report.costliest) is not None:
        advice = "" if report.advice is None else f"; try {report.advice}"
        lines.append(f"the layer that costs most is {line.number} ({line.name}): off by {line.float_error:.1%}{advice}")
    return lines


_ORDERS = {Order.APART: "one after the other", Order.IMAGE: "image by image", Order.LAYER: "layer by layer"}


def image_lines(report: Report) -> list[str]:
    """Return the cycles for an image of several, from the begin of the first layer to the end of the last."""
    count = len(report.runs)
    counted = (("", report.played_cycles), ("predicted ", report.predicted_cycles))
    parts = [f"{what}{cycles / count:.0f} cycles an image" for what, cycles in counted if cycles is not None]
    return [f"{count} images {_ORDERS[report.order]}: {', '.join(parts)}"] if count > 1 and parts else []


def share_lines(report: Report) -> list[str]:
    """Return what ran where: the accelerator's share of the file, and each node of the host with the reason."""
    share = report.share
    if share is None:
        return []
    count = sum(step.moved for step in report.steps if step is not None and step.run == 0)
    moved = [f"the host moves {count} cube{'s' * (count > 1)} from part to part"] if count else []
    if not share.host:
        return ["the accelerator runs all nodes", *moved]
    parts = [
        f"{part:.1%} of {what}"
        for part, what in ((share.multiplications, "multiplications"), (share.nbytes, "bytes"))
        if part is not None
    ]
    lines = [f"the accelerator does {' and '.join(parts)}" if parts else "the accelerator's share is not known"]
    lines.append(f"the host runs {len(share.host)} node{'s' * (len(share.host) > 1)}:")
    alike: dict[tuple[str, str], list[HostNode]] = {}
    for node in share.host:
        alike.setdefault((node.operator, node.reason), []).append(node)
    for (operator, reason), nodes in alike.items():
        parts_of = [share.of(node) for node in nodes]
        of = "elements not known" if None in parts_of else f"{sum(filter(None, parts_of)):.1%} of elements"
        more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
        lines.append(f"  {operator} {nodes[0].name}{more}: {reason}; {of}")
    return [*lines, *moved]
