import sys

import pytest

from tinydeploy import cli


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line in this process: returns (exit code, stdout, stderr)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tinydeploy", *map(str, arguments)])
        monkeypatch.setattr("signal.signal", lambda *_: None)
        capsys.readouterr()
        code = 0
        try:
            cli.main()
        except SystemExit as error:
            code = int(error.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return call
