"""Run by a Python that has TensorFlow 2.15: writes the models of `keras_cases` in the formats of Keras 2.

    python -m tests.conformance.keras2_files FOLDER

FOLDER/NUMBER.keras, NUMBER.h5, NUMBER.npz (x0 ... the inputs, y0 ... what Keras computes), and cases.json: for each
number its expression, or why Keras 2 cannot make it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np

from tests.conformance import keras_cases


def main(folder: Path) -> None:
    """Write all cases."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    from tensorflow import keras

    cases = []
    for number, (family, text, shapes) in enumerate(keras_cases.everything(2)):
        entry = {"family": family, "text": text, "error": ""}
        try:
            model, arrays = keras_cases.build(keras, text, shapes), keras_cases.feeds(shapes)
            expected = keras_cases.outputs(model, arrays)
            model.save(folder / f"{number}.keras")
            model.save(folder / f"{number}.h5")
        except Exception as error:  # a configuration that this version does not have, or cannot save
            entry["error"] = f"{type(error).__name__}: {str(error)[:200]}"
        else:
            named = {f"x{i}": array for i, array in enumerate(arrays)}
            named.update({f"y{i}": array for i, array in enumerate(expected)})
            np.savez(folder / f"{number}.npz", **named)
        cases.append(entry)
    (folder / "cases.json").write_text(json.dumps(cases))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
