"""tinydeploy doctor: which tools are here, which are missing, and how to get them."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys

import click

from tinydeploy.cli._shared import write_json

# (command, what for)
_TOOLS = (
    ("arm-none-eabi-gcc", "build firmware"),
    ("qemu-system-arm", "run emulated boards"),
    ("gcc", "host runs and instruction counting"),
)
# (distributions, any of which will do, what for, how to install the first)
_PACKAGES = (
    (("onnxruntime",), "compare imported ONNX models", "pip install 'tinydeploy[oracle-onnx]'"),
    (("ai-edge-litert", "tflite-runtime"), "compare imported TFLite models", "pip install 'tinydeploy[oracle-litert]'"),
    (("tensorflow", "tensorflow-cpu"), "compare imported Keras models", "pip install 'tinydeploy[oracle-keras]'"),
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


def _tool(name: str, purpose: str) -> dict[str, str | bool | None]:
    from tinydeploy.target.tools import install_hint

    path = shutil.which(name)
    version = None
    if path is not None:
        try:
            answer = subprocess.run(
                [path, "--version"], capture_output=True, encoding="utf-8", errors="replace", timeout=20, check=False
            )
            version = (answer.stdout or answer.stderr).partition("\n")[0]
        except (OSError, subprocess.TimeoutExpired) as error:
            version = f"found at {path}, but does not run: {error}"
    return {
        "name": name,
        "purpose": purpose,
        "found": path is not None,
        "version": version,
        "install": install_hint(name),
        "needed": True,
    }


def _package(names: tuple[str, ...], purpose: str, install: str) -> dict[str, str | bool | None]:
    import importlib.metadata

    versions = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    name, version = next(iter(versions.items()), (names[0], None))
    return {
        "name": name,
        "purpose": purpose,
        "found": version is not None,
        "version": version,
        "install": install,
        "needed": False,
    }
