"""The five MLPerf Tiny models and the real inputs for them, read from ../shared (tests skip where it is absent)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.conftest import need_shared
from tinydeploy.bench import BOARDS, MODELS
from tinydeploy.ir import Graph
from tinydeploy.ir.types import quantise

__all__ = ["BOARDS", "MODELS", "ad_windows", "real_inputs"]


def ad_windows(limit: int | None = None) -> NDArray[np.float32]:
    """Windows of five consecutive frames, evenly spread over the recordings; all of them without a limit."""
    frames = np.load(need_shared("data", "ad01_mlperf_eval_logmel_float16.npz"))["x"].astype(np.float32)
    windows = np.concatenate([frames[:, i : i + 196] for i in range(5)], axis=-1).reshape(-1, 640)
    return windows if limit is None else windows[np.linspace(0, len(windows) - 1, limit).astype(int)]


def real_inputs(name: str, graph: Graph, limit: int = 1000) -> NDArray[np.generic]:
    """Up to ``limit`` real inputs of an int8 model, in the model's own int8, shaped ``[samples, *input]``."""
    kind = graph.type(graph.inputs[0])
    if name == "kws":
        x = np.load(need_shared("data", "kws01_mlperf_test1000_mfcc_int8.npz"))["x"]
    elif name == "ic_resnet8":
        exact = np.load(need_shared("data", "ic01_mlperf_test200_uint8.npz"))["x"]
        more = np.load(need_shared("data", "cifar10_jpeg_test5000_uint8.npz"))["x"][:800]
        x = (np.concatenate([exact, more]).astype(np.int16) - 128).astype(np.int8)
    elif name == "vww":
        x = (np.load(need_shared("data", "vww01_mlperf460_uint8.npz"))["x"].astype(np.int16) - 128).astype(np.int8)
    elif name == "sww":
        x = quantise(np.load(need_shared("data", "sww_calibration_samples.npz"))["specs"], kind)
    else:
        x = quantise(ad_windows(limit), kind)
    return x[:limit].reshape(-1, *kind.shape)
