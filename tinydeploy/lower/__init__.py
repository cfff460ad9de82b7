"""From operators to kernel calls: what can run a node, with which constants, at which cost."""

from tinydeploy.lower._contract import Lowered, Offer, Target
from tinydeploy.lower.choose import kernel_names, lower, offers_for, target_for

__all__ = ["Lowered", "Offer", "Target", "kernel_names", "lower", "offers_for", "target_for"]
