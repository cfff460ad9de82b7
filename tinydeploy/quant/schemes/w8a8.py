"""int8: weights per output channel and symmetric, activations per tensor and affine, biases int32; TFLite's formats."""

from __future__ import annotations

from tinydeploy.ir import Elem
from tinydeploy.quant.schemes._scheme import Format, Scheme

SCHEME = Scheme(
    level="int8",
    name="w8a8",
    weights=Format(Elem.S8, -127, 127, symmetric=True),
    activations=Format(Elem.S8, -128, 127, symmetric=False),
    bias=Elem.S32,
    fixed_outputs=True,
)
