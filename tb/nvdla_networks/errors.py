"""Refusals of reading and playing networks."""

from __future__ import annotations

from nvdla_models.errors import InputError


class NetworkError(InputError):
    """A network, image or result that cannot be read or played; the message names the part, the rule and the value."""


class NodeRefused(NetworkError):
    """A node that the accelerator cannot compute.

    Attributes:
        node: Its name.
        rule: What the accelerator would need.
    """

    def __init__(self, node: str, rule: str, operator: str = "") -> None:
        """Keep the node and the rule beside the message."""
        super().__init__(f"node {node!r}{f' ({operator})' if operator else ''}: {rule}")
        self.node, self.rule = node, rule
