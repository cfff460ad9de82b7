"""Float graph to quantised graph: calibration, ranges, schemes."""

from tinydeploy.quant.quantise import is_quantised, quantise

__all__ = ["is_quantised", "quantise"]
