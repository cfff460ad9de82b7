"""Builds networks of the five MLPerf Tiny shapes with random weights, and random calibration data for them.

They need no dataset and know nothing: they take as many instructions, bytes and multiplications as the trained ones,
which is what a benchmark of speed and size wants. Needs Keras (`pip install tinydeploy[train]`).
Architectures: Banbury et al., MLPerf Tiny Benchmark, 2021 (arXiv 2106.07597); sww: its streaming wake word, v1.3.
"""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

SEED = 0
CALIBRATION = 16


def autoencoder() -> Any:
    """ad: dense 640-128x4-8-128x4-640, batch norm and ReLU between; 264,192 multiplications."""
    from keras import Input, Model, layers

    x = inputs = Input((640,), name="frames")
    for units in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x = _finish(layers.Dense(units)(x))
    return Model(inputs, layers.Dense(640)(x), name="ad")


def keyword_spotting() -> Any:
    """kws: DS-CNN, a 10x4 convolution and four separable blocks of 64 channels; 2,656,768 multiplications."""
    from keras import Input, Model, layers

    x = inputs = Input((49, 10, 1), name="mfcc")
    x = _finish(layers.Conv2D(64, (10, 4), 2, padding="same")(x))
    for _ in range(4):
        x = _separable(x, 64, 1)
    x = layers.Flatten()(layers.AveragePooling2D((25, 5))(x))
    return Model(inputs, layers.Dense(12, activation="softmax")(x), name="kws")


def streaming_wake_word() -> Any:
    """sww: depthwise convolutions over time of 3 to 15 steps, each followed by a 1x1; 826,368 multiplications."""
    from keras import Input, Model, layers

    x = inputs = Input((30, 1, 40), name="spectrum")
    for steps, channels in ((3, 128), (5, 128), (10, 128), (15, 32)):
        x = layers.DepthwiseConv2D((steps, 1), use_bias=False)(x)
        x = _finish(layers.Conv2D(channels, 1, use_bias=False)(x))
    return Model(inputs, layers.Dense(3, activation="softmax")(layers.Flatten()(x)), name="sww")


def image_classification() -> Any:
    """ic: ResNet-8 of three residual blocks with 16, 32 and 64 channels; 12,501,632 multiplications."""
    from keras import Input, Model, layers

    def convolve(x: Any, channels: int, kernel: int, stride: int) -> Any:
        return layers.Conv2D(channels, kernel, stride, padding="same")(x)

    x = inputs = Input((32, 32, 3), name="image")
    x = _finish(convolve(x, 16, 3, 1))
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        y = _finish(convolve(x, channels, 3, stride))
        y = layers.BatchNormalization()(convolve(y, channels, 3, 1))
        x = layers.ReLU()(layers.Add()([x if stride == 1 else convolve(x, channels, 1, stride), y]))
    x = layers.Flatten()(layers.AveragePooling2D(8)(x))
    return Model(inputs, layers.Dense(10, activation="softmax")(x), name="ic_resnet8")


def visual_wake_words() -> Any:
    """vww: MobileNet v1, width 0.25, 96x96 pixels; 7,489,664 multiplications."""
    from keras import Input, Model, layers

    x = inputs = Input((96, 96, 3), name="image")
    x = _finish(layers.Conv2D(8, 3, 2, padding="same")(x))
    blocks = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *((128, 1),) * 5, (256, 2), (256, 1))
    for channels, stride in blocks:
        x = _separable(x, channels, stride)
    x = layers.Flatten()(layers.AveragePooling2D(3)(x))
    return Model(inputs, layers.Dense(2, activation="softmax")(x), name="vww")


MODELS: dict[str, Callable[[], Any]] = {
    "ad": autoencoder,
    "kws": keyword_spotting,
    "sww": streaming_wake_word,
    "ic_resnet8": image_classification,
    "vww": visual_wake_words,
}


def _finish(x: Any) -> Any:
    from keras import layers

    return layers.ReLU()(layers.BatchNormalization()(x))


def _separable(x: Any, channels: int, stride: int) -> Any:
    from keras import layers

    x = _finish(layers.DepthwiseConv2D(3, stride, padding="same")(x))
    return _finish(layers.Conv2D(channels, 1)(x))


def randomise(model: Any, generator: np.random.Generator) -> None:
    """Fill every weight so that activations keep their size from layer to layer and nothing folds away."""
    for layer in model.layers:
        shapes = [tuple(w.shape) for w in layer.weights]
        if type(layer).__name__ == "BatchNormalization":
            gamma, beta, mean, variance = (generator.uniform(0.5, 1.5, shape) for shape in shapes)
            layer.set_weights([gamma, beta - 1, mean - 1, variance])
        elif shapes:
            kernel = shapes[0]
            taps = np.prod(kernel[:2] if type(layer).__name__ == "DepthwiseConv2D" else kernel[:-1])
            weights = [generator.normal(0, np.sqrt(2 / taps), kernel)]
            layer.set_weights(weights + [generator.normal(0, 0.1, shape) for shape in shapes[1:]])


def main() -> None:
    """Write NAME.h5, NAME.keras and NAME_calibration.npz for every model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("out"))
    parser.add_argument("--models", default=",".join(MODELS), help="comma-separated names")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.models.split(","):
        generator = np.random.default_rng([SEED, *name.encode()])
        model = MODELS[name]()
        randomise(model, generator)
        model.save(options.out / f"{name}.h5")
        model.save(options.out / f"{name}.keras")
        x = generator.normal(0, 1, (CALIBRATION, *model.input_shape[1:])).astype(np.float32)
        np.savez_compressed(options.out / f"{name}_calibration.npz", x=x)
        print(f"{name}: {model.count_params():,} parameters")


if __name__ == "__main__":
    main()
