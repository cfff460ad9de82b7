"""What int8 costs: the twin against the float model on real data, within half a point or its paired interval."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import REPO, need_module, need_shared
from tinydeploy import frontends, passes
from tinydeploy.data import Data, load_data
from tinydeploy.ir import Graph
from tinydeploy.ir.types import dequantise, quantise
from tinydeploy.metrics import evaluate, within
from tinydeploy.ops.execute import run_float, run_integer
from tinydeploy.quant import quantise as to_level

GOAL = 0.5  # points
AD_WINDOWS = 196


@dataclasses.dataclass(frozen=True)
class Case:
    """Files below ../shared. ``agreement``: least share of samples whose arg-max must be the float model's."""

    models: tuple[str, ...]
    calibration: str
    evaluation: str
    count: int
    agreement: float
    options: dict[str, object] = dataclasses.field(default_factory=dict)


CASES = {
    "kws": Case(
        ("kws_float.tflite", "kws_keras.h5"), "kws_calib120_mfcc_float16", "kws_td1000_mfcc_float16", 200, 0.97
    ),
    "ic_resnet8": Case(
        ("ic_resnet8_float.tflite", "ic_resnet8.h5"),
        "cifar10_jpeg_train200_calib_uint8",
        "ic01_mlperf_test200_uint8",
        200,
        0.95,
    ),
    "ic_resnet8_jpeg": Case(
        ("ic_resnet8_float.tflite",), "cifar10_jpeg_train200_calib_uint8", "cifar10_jpeg_test5000_uint8", 0, 0.95
    ),
    "vww": Case(
        ("vww_float.tflite", "vww.h5"),
        "vww01_calib40_uint8",
        "vww01_mlperf460_uint8",
        64,
        0.97,
        {"input_scale": {"x": (1 / 255, 0.0)}},
    ),
    # its own calibration samples: agreement only, nothing is claimed about accuracy
    "sww": Case(
        ("sww_float.tflite", "sww.h5"),
        "sww_calibration_samples",
        "sww_calibration_samples",
        45,
        0.97,
        {"data_map": {"x": "specs", "y": "labels"}},
    ),
}


def both(graph: Graph, calibration: Data, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Real outputs of the float graph and of the int8 twin."""
    quantised = to_level(graph, "int8", calibration.x)
    real = run_float(graph, data.x)[graph.outputs[0]]
    fed = {name: quantise(array, quantised.type(name)) for name, array in data.x.items()}
    output = quantised.outputs[0]
    return real, dequantise(run_integer(quantised, fed)[output], quantised.type(output))


def load(path: Path) -> Graph:
    return passes.optimise(frontends.load(path))


def first(data: Data, count: int) -> Data:
    assert data.y is not None
    return Data({name: array[:count] for name, array in data.x.items()}, data.y[:count])


def check(case: Case, model: str, count: int | None) -> None:
    graph = load(need_shared("models", "mlperf_tiny", model))
    files = (need_shared("data", f"{name}.npz") for name in (case.calibration, case.evaluation))
    calibration, data = (load_data(file, graph, **case.options) for file in files)  # type: ignore[arg-type]
    data = data if count is None else first(data, count)
    real, twin = both(graph, calibration, data)
    metric = evaluate("top1", real, twin, data.y, data.x[graph.inputs[0]])
    same = float((real.argmax(axis=-1) == twin.argmax(axis=-1)).mean())
    print(f"{model}: {metric}, agreement {same:.2%}")
    assert same >= case.agreement
    assert within(metric, GOAL), metric


QUICK = [(name, case.models[0]) for name, case in CASES.items() if case.count]
FULL = [(name, model) for name, case in CASES.items() for model in case.models]


@pytest.mark.parametrize(("name", "model"), QUICK)
def test_int8_keeps_the_accuracy_of_classifiers(name: str, model: str) -> None:
    check(CASES[name], model, CASES[name].count)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model"), FULL)
def test_int8_keeps_the_accuracy_of_classifiers_on_all_data(name: str, model: str) -> None:
    check(CASES[name], model, None)


def check_autoencoder(tmp_path: Path, model: str, windows: int) -> None:
    """``windows`` of each recording's 196, evenly spread; cut by a data file of Python as a user would."""
    spectra = need_shared("data", "ad01_mlperf_eval_logmel_float16.npz")
    script = tmp_path / "windows.py"
    script.write_text(
        "import numpy as np\n"
        "def load():\n"
        f"    data = np.load({str(spectra)!r})\n"
        "    frames = data['x'].astype(np.float32)\n"
        f"    starts = np.linspace(0, {AD_WINDOWS - 1}, {windows}).astype(int)\n"
        "    cut = [frames[:, s : s + 5].reshape(len(frames), 640) for s in starts]\n"
        "    return {'x': np.stack(cut, axis=1).reshape(-1, 640), 'y': data['y']}\n"
    )
    graph = load(need_shared("models", "mlperf_tiny", model))
    data = load_data(script, graph)
    real, twin = both(graph, load_data(need_shared("data", "ad01_calib500_float16.npz"), graph), data)
    metric = evaluate(f"auc-reconstruction:{windows}", real, twin, data.y, data.x[graph.inputs[0]])
    print(f"{model}: {metric}")
    assert within(metric, GOAL), metric


def test_int8_keeps_the_autoencoders_auc(tmp_path: Path) -> None:
    check_autoencoder(tmp_path, "ad_float.tflite", 14)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ad_float.tflite", "ad.h5"])
def test_int8_keeps_the_autoencoders_auc_on_all_windows(tmp_path: Path, model: str) -> None:
    check_autoencoder(tmp_path, model, AD_WINDOWS)


@pytest.mark.parametrize("model", ["digits.tflite", "digits.onnx", "digits.keras"])
def test_int8_digits_in_every_format(tmp_path: Path, model: str) -> None:
    need_module("sklearn")
    from tests.unit.test_examples import run_script

    run_script("digits/make_data.py", "-o", tmp_path)
    graph = load(REPO / "examples" / "digits" / model)
    calibration, data = (load_data(tmp_path / f"digits_{name}.npz", graph) for name in ("calibration", "eval"))
    real, twin = both(graph, calibration, data)
    metric = evaluate("top1", real, twin, data.y, data.x[graph.inputs[0]])
    print(f"{model}: {metric}")
    assert metric["float"] > 98
    assert within(metric, GOAL), metric
