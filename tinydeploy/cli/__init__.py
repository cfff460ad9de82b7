"""The command line: one module a command in this folder, found by name;
nothing heavy is imported before it is needed.
"""

from __future__ import annotations

import errno
import importlib
import os
import pkgutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from types import FrameType

import click

from tinydeploy.version import __version__


class _Commands(click.Group):
    """Finds commands as modules of this folder; a module's ``command`` is the click command, its name the file's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(
            module.name.replace("_", "-")
            for module in pkgutil.iter_modules([str(Path(__file__).parent)])
            if not module.name.startswith("_")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"tinydeploy.cli.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit codes: 0 done, 1 model or data unusable, 2 wrong usage, 3 a tool is missing, 4 validation failed, "
    "70 our bug.",
)
@click.version_option(__version__, prog_name="tinydeploy")
def cli() -> None:
    """Bring a trained network (.onnx, .keras, .h5, .tflite) to a Cortex-M microcontroller, and prove it."""


def _on_terminate(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Entry point of the ``tinydeploy`` command: runs it and turns every outcome into a message and an exit code."""
    from tinydeploy.errors import Problem, TinydeployError

    signal.signal(signal.SIGTERM, _on_terminate)  # so that temporary folders are removed
    try:
        cli(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        sys.exit(130)
    except TinydeployError as error:
        for problem in error.problems:
            click.echo(f"error: {problem}", err=True)
        if error.exit_code == 70:
            _save_report(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = str(error.filename or "the file system")
        click.echo(f"error: {Problem(where, error.strerror or str(error), hint=_advice(error))}", err=True)
        sys.exit(1)
    except MemoryError:
        click.echo("error: out of memory; give less data or a smaller model", err=True)
        sys.exit(1)
    except Exception as error:
        click.echo(f"error: internal: {type(error).__name__}: {error}", err=True)
        _save_report(error)
        sys.exit(70)


def _advice(error: OSError) -> str:
    """What helps against a fault of the file system."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"make room in the folder that is written and in {os.environ.get('TMPDIR', '/tmp')} (TMPDIR)"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "it must be writable; builds and runs write into build/ of the project folder: copy that if need be"
    return "check the path"


def _save_report(error: BaseException) -> None:
    """Write what we need to find the fault to a file the user can attach, and say where it is."""
    text = f"tinydeploy {__version__}, Python {sys.version}\n{sys.platform}\n{' '.join(sys.argv)}\n\n"
    text += "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile("wb", prefix="tinydeploy-bug-", suffix=".txt", delete=False) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError:
        click.echo(text, err=True)
        return
    click.echo(f"  this is a bug of ours; please report it with the file {file.name}", err=True)
