"""Memory: where every tensor and scratch lies, proved by a shadow run, and which kernels fit the RAM asked for."""

from tinydeploy.plan.negotiate import plan
from tinydeploy.plan.result import Plan

__all__ = ["Plan", "plan"]
