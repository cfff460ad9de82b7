"""Models made and saved by the installed Keras, for the slow comparison with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def save_models(folder: Path) -> list[Path]:
    """Save models that together use most layers, as `.keras` and, where Keras reads its own file again, as `.h5`."""
    import keras

    paths = []
    makers = {"line": _line, "image": _image, "nested": _nested, "stack": _stack}
    for name, make in makers.items():
        model = make(keras)
        rng = np.random.default_rng(0)
        for variable in model.weights:
            values = rng.normal(size=variable.shape) * 0.4
            variable.assign(np.abs(values) if "variance" in variable.path else values)
        for suffix in (".keras",) if name == "nested" else (".keras", ".h5"):
            paths.append(folder / f"{name}{suffix}")
            model.save(paths[-1])
    return paths


def _line(keras: Any) -> Any:
    layers = keras.layers
    x = start = keras.Input((16, 6))
    x = layers.Conv1D(8, 5, padding="causal", dilation_rate=2, activation="relu")(x)
    x = layers.MaxPooling1D(2, padding="same")(x)
    x = layers.SeparableConv1D(6, 3, padding="same", activation="tanh")(x)
    x = layers.Cropping1D((1, 0))(layers.ZeroPadding1D((1, 2))(x))
    x = layers.DepthwiseConv1D(3, depth_multiplier=2)(x)
    x = layers.Concatenate()([layers.GlobalMaxPooling1D()(x), layers.GlobalAveragePooling1D()(x)])
    x = layers.Flatten()(layers.Permute((2, 1))(layers.Reshape((2, -1))(x)))
    x = layers.ReLU(max_value=6.0)(layers.Dense(5, use_bias=False)(x))
    return keras.Model(start, layers.Softmax()(x))


def _image(keras: Any) -> Any:
    layers = keras.layers
    start = keras.Input((12, 12, 3), dtype="uint8")
    x = layers.Rescaling(1 / 127.5, offset=-1)(start)
    x = layers.ZeroPadding2D(((1, 0), (0, 2)))(x)
    x = layers.SeparableConv2D(8, 3, strides=2, padding="same", activation="relu6", depth_multiplier=2)(x)
    x = layers.BatchNormalization(scale=False)(x)
    x = layers.Conv2D(8, 3, groups=2, dilation_rate=2, padding="same", activation="sigmoid")(x)
    y = layers.Subtract()([x, layers.Activation("relu")(x)])
    y = layers.Multiply()([y, x, x])
    y = layers.AveragePooling2D((2, 3), strides=(2, 1), padding="same")(y)
    y = layers.GlobalMaxPooling2D(keepdims=True)(layers.Cropping2D(1)(layers.SpatialDropout2D(0.3)(y)))
    dense = layers.Dense(8, activation="relu")
    return keras.Model(start, dense(dense(layers.Flatten()(y))))


def _nested(keras: Any) -> Any:
    inside = keras.Input((4,))
    inner = keras.Model(inside, keras.layers.Dense(4)(inside), name="inner")
    a, b = keras.Input((4,)), keras.Input((4,))
    return keras.Model([a, b], [inner(a) + inner(b), inner(inner(a)) * 0.5, inner(b)])


def _stack(keras: Any) -> Any:
    layers = keras.layers
    inner = keras.Sequential([layers.Input((3,)), layers.Dense(4), layers.BatchNormalization(), layers.Dense(2)])
    return keras.Sequential([layers.Input((4,)), layers.Dense(3, activation="relu"), inner, layers.Softmax()])
