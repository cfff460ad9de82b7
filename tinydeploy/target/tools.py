"""Outside programs: finding them, running them, and saying how to get them."""

from __future__ import annotations

import functools
import shutil
import subprocess

from tinydeploy.errors import Problem, ToolError

_PACKAGES = {
    "arm-none-eabi-": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "qemu-system-arm": "qemu-system-arm",
    "gcc": "gcc",
    "clang": "clang",
}


def install_hint(tool: str) -> str:
    """Return the command that installs ``tool`` on Debian and Ubuntu."""
    for prefix, packages in _PACKAGES.items():
        if tool.startswith(prefix):
            return f"sudo apt-get install {packages}"
    return f"install {tool} and put it on the PATH"


def require_tool(tool: str) -> str:
    """Return the full path of an outside program.

    Raises: ToolError with the command that installs it.
    """
    path = shutil.which(tool)
    if path is None:
        raise ToolError(Problem(tool, "is not installed (or not on the PATH)", hint=install_hint(tool)))
    return path


@functools.cache
def tool_version(path: str) -> str:
    """Return the first line of ``path --version``, or an empty text."""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, encoding="utf-8", errors="replace", timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.splitlines()[0] if done.stdout else ""
