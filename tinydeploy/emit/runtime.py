"""Which files of runtime_c a model needs: its kernels' sources and every header reachable from them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tinydeploy.errors import InternalError, Problem

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
ALWAYS = ("td_arch.h", "td_version.h")


def runtime_files(root: Path, headers: Iterable[str], sources: Iterable[str]) -> dict[str, str]:
    """Texts by path in the project folder ("runtime/include/td_arch.h"), sorted.

    ``root``: the runtime_c folder. Raises: InternalError if a file that is asked for or included is not there.
    """
    found: dict[str, str] = {}
    waiting = [("src", name) for name in sources] + [("include", name) for name in (*ALWAYS, *headers)]
    while waiting:
        kind, name = waiting.pop()
        path = f"runtime/{kind}/{name}"
        if path in found:
            continue
        try:
            text = (root / kind / name).read_text("utf-8")
        except FileNotFoundError as error:
            raise InternalError(Problem(f"runtime_c/{kind}/{name}", "is needed and does not exist")) from error
        found[path] = text
        waiting += [("include", include) for include in _INCLUDE.findall(text)]
    return dict(sorted(found.items()))
