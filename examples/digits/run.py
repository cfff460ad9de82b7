"""What `make demo` runs: a digit recogniser becomes firmware on an emulated Cortex-M4; a table says how it does."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BOARD = "mps2-an386"


def tinydeploy(*arguments: str) -> None:
    """Run the command line as a user would, showing the command; a failure ends the demo with its exit code."""
    print(f"$ tinydeploy {' '.join(arguments)}", flush=True)
    status = subprocess.run([sys.executable, "-m", "tinydeploy", *arguments], check=False).returncode
    if status:
        sys.exit(status)


def table(validated: dict[str, Any], built: dict[str, Any], manifest: dict[str, Any], model: str) -> str:
    """The result as text a person understands."""
    metric, flash, ram = validated["metric"], built["flash"], built["ram"]
    exact = "yes" if validated["bit_exact"] else f"NO ({validated['mismatches']} elements differ)"
    device = f"{metric['quantised']:.2f} %" if validated["bit_exact"] else "differs from the twin"
    rows = [
        ("model", f"{model}: {manifest['macs']:,} multiply-accumulates"),
        ("board", f"{validated['board']} ({validated['cpu']}, emulated by QEMU)"),
        ("held-out digits", f"{validated['samples']:,} (none seen in training or calibration)"),
        ("accuracy, float", f"{metric['float']:.2f} %"),
        ("accuracy, int8", f"{metric['quantised']:.2f} %  (drop {metric['drop']:+.2f} points)"),
        ("accuracy, on the device", device),
        ("device = integer twin, bit for bit", exact),
        (
            "flash, without start-up",
            f"{flash['weights'] + flash['code']:,} B  (constants {flash['weights']:,}, code {flash['code']:,})",
        ),
        (
            "RAM",
            f"{ram['arena'] + ram['state'] + ram['static'] + validated['stack_bytes']:,} B  (arena {ram['arena']:,}, "
            f"static {ram['static'] + ram['state']:,}, stack {validated['stack_bytes']:,})",
        ),
        ("instructions per inference", f"{validated['instructions']['per_inference']:,}"),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {value}" for name, value in rows]
    rule = "-" * max(len(line) for line in lines)
    return "\n".join([rule, *lines, rule])


def main() -> None:
    """Make the data, convert, build, validate, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("out/digits"))
    parser.add_argument("--model", default="digits.tflite", help="digits.tflite, digits.onnx or digits.keras")
    parser.add_argument("--board", default=BOARD)
    options = parser.parse_args()
    out: Path = options.output
    data = out.parent / "digits_data"
    subprocess.run([sys.executable, str(HERE / "make_data.py"), "-o", str(data)], check=True)
    calibration, evaluation = data / "digits_calibration.npz", data / "digits_eval.npz"
    result = out.parent / "digits_result.json"
    board = ("--board", options.board)
    tinydeploy(
        "convert",
        str(HERE / options.model),
        "-o",
        str(out),
        *board,
        "--calibration",
        str(calibration),
        "--name",
        "digits",
    )
    tinydeploy("build", str(out), *board)
    tinydeploy("validate", str(out), *board, "--data", str(evaluation), "--json", str(result))
    validated = json.loads(result.read_text("utf-8"))
    built = json.loads((out / "build" / options.board / "build.json").read_text("utf-8"))
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    print()
    print(table(validated, built, manifest, options.model))
    print(
        f"""
The same with your own model:
  .venv/bin/tinydeploy convert MODEL.onnx -o out/mine --board {options.board} --calibration SAMPLES.npz
  .venv/bin/tinydeploy build out/mine --board {options.board}
  .venv/bin/tinydeploy validate out/mine --board {options.board} --data EVAL.npz
(.keras, .h5 and .tflite as well; SAMPLES.npz holds one array an input, EVAL.npz also the labels as y)"""
    )


if __name__ == "__main__":
    main()
