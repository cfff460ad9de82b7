"""Activation layers, and the operations of Keras 3 that are activations."""

from __future__ import annotations

from collections.abc import Callable

from tinydeploy.frontends.keras_call import Call, layer, operation
from tinydeploy.frontends.keras_ops.activations import CLAMPS, FUNCTIONS, activate, clamp
from tinydeploy.ir import Elem


@layer("Activation", mask="passes")
def _activation_layer(call: Call) -> str:
    return activate(call, call.input(), call.config.get("activation"), "")


def _layer(function: str, **defaults: float) -> Callable[[Call], str]:
    return lambda call: FUNCTIONS[function](call, call.input(), "", {**defaults, **call.config})


layer("ReLU", mask="passes")(_layer("relu"))
layer("ELU", mask="passes")(_layer("elu"))
layer("Softmax", mask="uses")(_layer("softmax"))


@layer("LeakyReLU", mask="passes")
def _leaky_layer(call: Call) -> str:
    alpha = call.number("negative_slope", call.number("alpha", 0.3))
    return call.emit("leaky_relu", (call.input(),), alpha=alpha)


@layer("ThresholdedReLU")
def _thresholded(call: Call) -> str:
    return FUNCTIONS["threshold"](call, call.input(), "", {"threshold": call.number("theta", 1.0), "value": 0.0})


@layer("PReLU", mask="passes")
def _prelu(call: Call) -> str:
    x = call.input()
    (alpha,) = call.weights(call.type(x).rank - 1)
    return call.emit("prelu", (x, call.constant("alpha", alpha)))


def _operation(function: str) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        x = call.operand(0)
        if call.type(x).elem is not Elem.F32:
            raise call.damaged(f"takes float32, not {call.type(x)}")
        return FUNCTIONS[function](call, x, "", {**call.config, **call.kwargs})

    return translate


for _class, _name in {
    "Relu": "relu",
    "ReLU": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Silu": "silu",
    "LogSigmoid": "log_sigmoid",
    "LeakyRelu": "leaky_relu",
    "HardSigmoid": "hard_sigmoid",
    "HardSilu": "hard_silu",
    "Elu": "elu",
    "Selu": "selu",
    "Celu": "celu",
    "Glu": "glu",
    "Gelu": "gelu",
    "TanhShrink": "tanh_shrink",
    "HardShrink": "hard_shrink",
    "SoftShrink": "soft_shrink",
    "SparsePlus": "sparse_plus",
    "SparseSigmoid": "sparse_sigmoid",
    "Squareplus": "squareplus",
    "Threshold": "threshold",
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "Exp": "exponential",
}.items():
    operation(_class)(_operation(_name))


@operation("Relu6", "HardTanh")
def _clamp_operation(call: Call) -> str:
    return clamp(call, call.operand(0), "", CLAMPS["relu6" if call.layer.class_name == "Relu6" else "hard_tanh"])
