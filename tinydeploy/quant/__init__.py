"""Float graph to quantised graph: calibration, ranges, schemes."""

from tinydeploy.quant.quantise import quantise

__all__ = ["quantise"]
