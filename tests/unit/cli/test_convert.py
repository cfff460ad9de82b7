"""What `convert` makes of its options and its model."""

import json

import numpy as np

from tests.unit.frontends.tflite_build import TfliteModel


def test_a_model_with_small_weights_is_a_float_model(run, tmp_path):
    """Integers with a scale as constants only (weights kept small): the model is calibrated and quantised."""
    rng = np.random.default_rng(0)
    model = TfliteModel()
    x, y, real = model.tensor([1, 8]), model.tensor([1, 4]), model.tensor([4, 8])
    model.op("DEQUANTIZE", [model.constant(rng.integers(-127, 128, (4, 8)).astype("i1"), scale=0.01)], [real])
    model.op("FULLY_CONNECTED", [x, real, -1], [y], activation="NONE")
    path = model.save(tmp_path, [x], [y])
    np.savez(tmp_path / "calibration.npz", x=rng.normal(size=(30, 8)).astype("f4"))
    out = tmp_path / "out"
    code, _, err = run("convert", path, "-o", out, "--no-check", "--calibration", tmp_path / "calibration.npz")
    assert code == 0, err
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert [tensor["dtype"] for tensor in (*manifest["inputs"], *manifest["outputs"])] == ["int8", "int8"]
