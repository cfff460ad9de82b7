"""Trains the digits CNN and writes it as digits.keras, digits.onnx and digits.tflite, all with the same weights.

Needs TensorFlow; the models are in the repository, so this need not be run again to follow the README.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt
from make_data import split

SEED = 1
EPOCHS = 80
BATCH = 32


def build(batch: int | None = None) -> Any:
    """Return the untrained network: [batch, 8, 8, 1] in 0..1 -> probabilities of the ten digits."""
    import keras
    from keras import layers

    x = inputs = keras.Input((8, 8, 1), batch, name="image")

    def finish(y: Any, name: str) -> Any:
        return layers.ReLU(name=f"{name}_relu")(layers.BatchNormalization(name=f"{name}_bn")(y))

    x = finish(layers.Conv2D(8, 3, padding="same", use_bias=False, name="conv1")(x), "conv1")
    x = finish(layers.DepthwiseConv2D(3, padding="same", use_bias=False, name="depthwise")(x), "depthwise")
    x = finish(layers.Conv2D(16, 1, use_bias=False, name="pointwise")(x), "pointwise")
    x = layers.MaxPooling2D(2, name="max_pool")(x)
    x = finish(layers.Conv2D(16, 3, padding="same", use_bias=False, name="conv2")(x), "conv2")
    x = layers.AveragePooling2D(2, name="average_pool")(x)
    x = layers.Flatten(name="flatten")(x)
    x = layers.Dense(10, name="logits")(x)
    return keras.Model(inputs, layers.Softmax(name="probabilities")(x), name="digits")


def train(model: Any) -> None:
    """Train in place; images are shifted by up to one pixel."""
    import keras

    (x, y), _, _ = split()
    steps = EPOCHS * -(-len(x) // BATCH)
    model.compile(
        keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, steps)),
        "sparse_categorical_crossentropy",
    )
    generator = np.random.default_rng(SEED)
    for _ in range(EPOCHS):
        order = generator.permutation(len(x))
        padded = np.pad(x[order], ((0, 0), (1, 1), (1, 1), (0, 0)))
        top, left = generator.integers(0, 3, (2, len(x)))
        shifted = np.stack([image[t : t + 8, s : s + 8] for image, t, s in zip(padded, top, left, strict=True)])
        model.fit(shifted, y[order], batch_size=BATCH, shuffle=False, verbose=0)


def write_onnx(model: Any, path: pathlib.Path) -> None:
    """Write the network channels first, node for node as PyTorch exports it before it folds anything."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes: list[Any] = []
    constants: list[Any] = []

    def constant(name: str, data: npt.NDArray[Any]) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(data, dtype=np.float32), name))
        return name

    def node(kind: str, inputs: list[str], **attributes: Any) -> str:
        name = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [f"{name}_out"], name=name, **attributes))
        return f"{name}_out"

    def block(x: str, name: str, depthwise: bool = False) -> str:
        kernel = np.asarray(model.get_layer(name).get_weights()[0])  # HWIO, or HWC1 if depthwise
        weights = kernel.transpose(2, 3, 0, 1) if depthwise else kernel.transpose(3, 2, 0, 1)
        side = kernel.shape[0]
        x = node(
            "Conv",
            [x, constant(f"{name}.weight", weights)],
            kernel_shape=[side, side],
            pads=[side // 2] * 4,
            strides=[1, 1],
            dilations=[1, 1],
            group=kernel.shape[2] if depthwise else 1,
        )
        layer = model.get_layer(f"{name}_bn")
        gamma, beta, mean, variance = layer.get_weights()
        parts = {"weight": gamma, "bias": beta, "running_mean": mean, "running_var": variance}
        names = [constant(f"{name}_bn.{part}", data) for part, data in parts.items()]
        return node("Relu", [node("BatchNormalization", [x, *names], epsilon=float(layer.epsilon))])

    x = block(block(block("image", "conv1"), "depthwise", depthwise=True), "pointwise")
    x = block(node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2]), "conv2")
    x = node("Flatten", [node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])], axis=1)
    kernel, bias = model.get_layer("logits").get_weights()
    rows = kernel.reshape(2, 2, 16, 10).transpose(3, 2, 0, 1).reshape(10, 64)  # flattened C, H, W here
    x = node("Gemm", [x, constant("logits.weight", rows), constant("logits.bias", bias)], transB=1)
    nodes.append(helper.make_node("Softmax", [x], ["probabilities"], name="Softmax", axis=1))

    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        constants,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(made)
    onnx.save(made, str(path))


def write_tflite(model: Any, path: pathlib.Path, int8: bool) -> None:
    """Write the network with TensorFlow's converter, in float or with TensorFlow's own int8 quantisation."""
    import tensorflow as tf

    one = build(batch=1)
    one.set_weights(model.get_weights())
    converter = tf.lite.TFLiteConverter.from_keras_model(one)
    if int8:
        _, (x, _), _ = split()
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image[np.newaxis]] for image in x)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    path.write_bytes(converter.convert())


def main() -> None:
    """Train and write all files."""
    import keras
    import tensorflow as tf

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    folder: pathlib.Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    model = build()
    train(model)
    _, _, (x, y) = split()
    accuracy = np.mean(np.argmax(model.predict(x, verbose=0), axis=-1) == y)
    print(f"{model.count_params()} parameters, {100 * accuracy:.1f} % of {len(x)} held-out images")
    plain = build()  # without the optimiser's state
    plain.set_weights(model.get_weights())
    plain.save(folder / "digits.keras")
    write_onnx(model, folder / "digits.onnx")
    write_tflite(model, folder / "digits.tflite", int8=False)
    write_tflite(model, folder / "digits_int8.tflite", int8=True)


if __name__ == "__main__":
    main()
