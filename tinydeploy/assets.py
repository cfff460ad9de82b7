"""Where codegen/, runtime_c/ and boards/ are, beside the package in a checkout or inside it in a wheel; templates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinydeploy.errors import InternalError, Problem

_MARKER = ".tinydeploy-asset"


def asset_dir(name: str) -> Path:
    """Return the folder ``name`` (``codegen``, ``runtime_c`` or ``boards``). The checkout's wins over the wheel's copy.

    Raises: InternalError if neither is there (a broken installation).
    """
    package = Path(__file__).resolve().parent
    for folder in (package.parent / name, package / "_assets" / name):
        if (folder / _MARKER).is_file():
            return folder
    raise InternalError(
        Problem("tinydeploy", f"the folder {name!r} is missing from the installation", hint="reinstall tinydeploy")
    )


def render(template: Path, values: Mapping[str, Any]) -> str:
    """Fill a Jinja2 template of one of these folders; a variable it is not given is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(template.parent)),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(template.name).render(values)
