"""tinydeploy doctor: which tools are here, which are missing, and how to get them."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys

import click

from tinydeploy.cli._shared import write_json

# (command or distribution, what for, how to install)
_TOOLS = (
    ("arm-none-eabi-gcc", "build firmware", "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi"),
    ("qemu-system-arm", "run emulated boards", "apt-get install qemu-system-arm"),
    ("gcc", "host runs and instruction counting", "apt-get install gcc"),
)
_PACKAGES = (
    ("onnxruntime", "compare imported ONNX models", "pip install 'tinydeploy[oracle-onnx]'"),
    ("ai-edge-litert", "compare imported TFLite models", "pip install 'tinydeploy[oracle-litert]'"),
    ("tensorflow", "compare imported Keras models", "pip install 'tinydeploy[oracle-keras]'"),
)


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """Show which outside tools are found. Exit code 3 if one that builds or runs firmware is missing."""
    rows = [_tool(*tool) for tool in _TOOLS] + [_package(*package) for package in _PACKAGES]
    if as_json:
        write_json("-", rows)
    else:
        for row in rows:
            state = f"{row['version']}" if row["found"] else f"MISSING: {row['install']}"
            click.echo(f"{row['name']:20s} {row['purpose']:36s} {state}")
    if any(row["needed"] and not row["found"] for row in rows):
        sys.exit(3)


def _tool(name: str, purpose: str, install: str) -> dict[str, str | bool | None]:
    path = shutil.which(name)
    version = None
    if path is not None:
        try:
            answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
            version = (answer.stdout or answer.stderr).partition("\n")[0]
        except (OSError, subprocess.TimeoutExpired) as error:
            version = f"found at {path}, but does not run: {error}"
    return {
        "name": name,
        "purpose": purpose,
        "found": path is not None,
        "version": version,
        "install": install,
        "needed": True,
    }


def _package(name: str, purpose: str, install: str) -> dict[str, str | bool | None]:
    try:
        version: str | None = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        version = None
    if name == "ai-edge-litert" and version is None:
        return {**_package("tflite-runtime", purpose, install)}
    return {
        "name": name,
        "purpose": purpose,
        "found": version is not None,
        "version": version,
        "install": install,
        "needed": False,
    }
