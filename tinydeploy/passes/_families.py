"""Names of the operators that work element by element, as the folder of operators has them."""

from __future__ import annotations

from tinydeploy.ops import registry
from tinydeploy.ops._elementwise import Unary
from tinydeploy.ops.binary import Binary

_OTHERS = ("clamp", "logistic", "tanh", "quantize", "dequantize", "cast", "bitcast")

# One input, a result of its shape; the same function of every element.
EACH_ELEMENT = (*_OTHERS, *(name for name, kind in registry().items() if issubclass(kind, Unary)))
# Two inputs that broadcast.
PAIRWISE = ("add", "sub", "mul", *(name for name, kind in registry().items() if issubclass(kind, Binary)))
