"""From operators to kernel calls: what can run a node, with which constants, at which cost."""

from tinydeploy.lower._contract import Lowered, Offer, Target
from tinydeploy.lower.choose import kernel_names, lower, offers_for, target_for
from tinydeploy.lower.islands import float_nodes, lower_with_islands
from tinydeploy.lower.islands import warnings as island_warnings

__all__ = [
    "Lowered",
    "Offer",
    "Target",
    "float_nodes",
    "island_warnings",
    "kernel_names",
    "lower",
    "lower_with_islands",
    "offers_for",
    "target_for",
]
