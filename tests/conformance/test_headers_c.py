"""Headers of kernels that a model may use together do not contradict each other."""

import subprocess

from tests.conftest import REPO, need_tool

RUNTIME = REPO / "runtime_c"


def test_all_headers_in_one_file(tmp_path):
    need_tool("gcc")
    names = sorted(path.name for path in (RUNTIME / "include").glob("*.h") if not path.stem.endswith("_body"))
    (tmp_path / "all.c").write_text("".join(f'#include "{name}"\n' for name in names))
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wmissing-prototypes", "-Wno-unused-function", "-Werror"]
    built = subprocess.run(
        [*command, f"-I{RUNTIME / 'include'}", "-fsyntax-only", "all.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
