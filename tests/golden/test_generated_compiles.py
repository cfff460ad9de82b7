"""Generated C compiles without a warning, links with other models, refuses the wrong core, and does what it should."""

import dataclasses
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import need_tool
from tests.unit.emit import fakes
from tinydeploy import emit, pipeline, plan
from tinydeploy.ir import Elem, Graph, State, Type, Value
from tinydeploy.lower import lower, target_for
from tinydeploy.target.toolchain import WARNINGS

STRICT = ("-std=c99", *WARNINGS)
ARM = "arm-none-eabi-gcc"


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    """The fake models as folders, side by side."""
    root = tmp_path_factory.mktemp("models")
    runtime = fakes.runtime(root / "runtime_c")
    for graph, lowered in (fakes.small(), fakes.with_state()):
        planned = plan.plan(graph, lowered, fakes.TARGET)
        emit.project(graph, planned, target=fakes.TARGET, name=graph.name, runtime=runtime).write(root / graph.name)
    return root


def run(*command: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, cwd=cwd)


def compiled(compiler: str, source: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    folder = source.parent if source.parent.name != "src" else source.parents[2]
    paths = (f"-I{folder}", f"-I{folder / 'runtime' / 'include'}")
    return run(compiler, *flags, *paths, "-c", source, "-o", source.with_suffix(".o"))


@pytest.mark.parametrize("compiler", ["gcc", "clang", ARM])
@pytest.mark.parametrize("name", ["small", "keeper"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_no_warnings(folders, compiler, name, level):
    need_tool(compiler)
    flags = (*STRICT, level, *(("-mcpu=cortex-m4", "-mthumb") if compiler == ARM else ()))
    for source in (folders / name / f"{name}.c", *(folders / name / "runtime" / "src").glob("*.c")):
        done = compiled(compiler, source, *flags)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("flags", "fine"),
    [
        (("-mcpu=cortex-m4", "-mthumb"), True),
        (("-mcpu=cortex-m33", "-mthumb"), True),
        (("-mcpu=cortex-m3", "-mthumb"), False),
        (("-mcpu=cortex-m0", "-mthumb"), False),
        (("-mcpu=cortex-m0", "-mthumb", "-DTD_NO_ASM"), True),
    ],
)
def test_a_core_without_the_instructions_stops_at_an_error(folders, flags, fine):
    need_tool(ARM)
    done = compiled(ARM, folders / "small" / "small.c", *STRICT, *flags)
    assert (done.returncode == 0) == fine
    assert fine or "generated for cortex-m4" in done.stderr


def test_another_runtime_is_refused(folders, tmp_path):
    need_tool("gcc")
    shutil.copytree(folders / "small", tmp_path / "small")
    header = tmp_path / "small" / "runtime" / "include" / "td_version.h"
    header.write_text(header.read_text().replace("TD_RUNTIME_ABI 1", "TD_RUNTIME_ABI 99"))
    done = compiled("gcc", tmp_path / "small" / "small.c")
    assert "needs runtime ABI 1" in done.stderr


def test_a_broken_plan_does_not_compile(folders, tmp_path):
    need_tool("gcc")
    shutil.copytree(folders / "small", tmp_path / "small")
    source = tmp_path / "small" / "small.c"
    source.write_text(source.read_text().replace("at_audio = 8,", "at_audio = 4,"))
    assert "small_check_0" in compiled("gcc", source).stderr


def test_the_header_is_cplusplus_too(folders, tmp_path):
    need_tool("g++")
    (tmp_path / "main.cpp").write_text('#include "small.h"\n#include "keeper.h"\nSMALL_STATIC_CTX(a);\nint main() {}\n')
    paths = [f"-I{folders / name}" for name in ("small", "keeper")] + [f"-I{folders / 'small/runtime/include'}"]
    done = run(
        "g++", "-std=c++11", "-Wall", "-Wextra", "-Wno-unused-variable", *paths, "-fsyntax-only", tmp_path / "main.cpp"
    )
    assert done.returncode == 0, done.stderr


MAIN = """
#include "keeper.h"
#include "small.h"

SMALL_STATIC_CTX(s);
KEEPER_STATIC_CTX(k);

static int filtered(const int8_t *in, int y, int x)
{
    int sum = 7;
    for (int i = 0; i < 3; i++) {
        static const int weights[3] = {1, -1, 2};
        const int row = y + i - 1;
        sum += weights[i] * (row < 0 || row > 3 ? -3 : in[row * 6 + x]);
    }
    return (int8_t)sum;
}

int main(void)
{
    int8_t in[24];
    int8_t memory[24];
    for (int i = 0; i < 24; i++) {
        in[i] = (int8_t)(i * 5 - 60);
        memory[i] = -3;
    }
    keeper_reset(&k);
    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < 24; i++) {
            small_input_audio(&s)[i] = in[i];
            keeper_input_0(&k)[i] = in[i];
        }
        small_run(&s);
        keeper_run(&k);
        for (int i = 0; i < 24; i++) {
            const int f = filtered(in, i / 6, i % 6);
            if (small_output_logits(&s)[i] != (int8_t)(f * 2) || keeper_output_filtered(&k)[i] != f ||
                keeper_output_kept(&k)[i] != memory[i]) {
                return 1 + run;
            }
            memory[i] = (int8_t)(memory[i] * 2);
        }
        if (keeper_output_1(&k)[1] != -2) {
            return 10;
        }
    }
    return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_two_models_in_one_program(folders, tmp_path, compiler):
    """Kernels are shared: the runtime files of both folders are the same symbols, compiled once."""
    need_tool(compiler)
    (tmp_path / "main.c").write_text(MAIN)
    sources = [folders / n / f"{n}.c" for n in ("small", "keeper")] + [folders / "small/runtime/src/td_fake.c"]
    paths = [f"-I{folders / name}" for name in ("small", "keeper")] + [f"-I{folders / 'small/runtime/include'}"]
    program = tmp_path / "program"
    flags = ("-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    done = run(compiler, *flags, *paths, tmp_path / "main.c", *sources, "-o", program)
    assert done.returncode == 0, done.stderr
    done = run(program)
    assert done.returncode == 0, done.stderr


def test_cmake_adds_both_and_each_kernel_once(folders, tmp_path):
    need_tool("cmake", "gcc")
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(app C)\n"
        f"add_subdirectory({folders / 'small'} small)\nadd_subdirectory({folders / 'keeper'} keeper)\n"
        "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE tinydeploy::small tinydeploy::keeper)\n"
    )
    done = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "build" / "compile_commands.json").read_text().count("td_fake.c.o -c") == 1
    done = run("cmake", "--build", tmp_path / "build")
    assert done.returncode == 0, done.stderr + done.stdout
    assert run(tmp_path / "build" / "app").returncode == 0


def swap() -> Graph:
    """No node at all: two states and the input are passed round."""
    kind = Type((3,), Elem.S16)
    graph = Graph("swap", {name: Value(name, kind) for name in ("x", "a", "b")}, inputs=["x"], outputs=["x", "b"])
    graph.states = [
        State("first", "a", "x", np.array([1, 2, 3], np.int16)),
        State("second", "b", "a", np.full(3, 7, np.int16)),
    ]
    return graph


SWAP_MAIN = """
#include "swap.h"

SWAP_STATIC_CTX(c);

int main(void)
{
    static const int16_t expected[4][3] = {{7, 7, 7}, {1, 2, 3}, {10, 10, 10}, {11, 11, 11}};
    swap_reset(&c);
    for (int run = 0; run < 4; run++) {
        for (int i = 0; i < 3; i++) {
            swap_input_x(&c)[i] = (int16_t)(10 + run);
        }
        swap_run(&c);
        for (int i = 0; i < 3; i++) {
            if (swap_output_0(&c)[i] != 10 + run || swap_output_1(&c)[i] != expected[run][i]) {
                return 1 + run;
            }
        }
    }
    return 0;
}
"""


def test_states_that_feed_each_other(tmp_path):
    need_tool("gcc")
    graph = swap()
    planned = plan.plan(graph, [], fakes.TARGET)
    emit.project(graph, planned, target=fakes.TARGET, name="swap").write(tmp_path / "swap")
    (tmp_path / "main.c").write_text(SWAP_MAIN)
    paths = [f"-I{tmp_path / 'swap'}", f"-I{tmp_path / 'swap/runtime/include'}"]
    done = run("gcc", *STRICT, *paths, tmp_path / "swap" / "swap.c", tmp_path / "main.c", "-o", tmp_path / "program")
    assert done.returncode == 0, done.stderr
    assert run(tmp_path / "program").returncode == 0


def test_infinite_parameters_compile(tmp_path):
    """A clamp without bounds is a pair of infinities."""
    need_tool("gcc", "clang")
    graph, lowered = fakes.small()
    offer = lowered[0].offer
    fields = tuple((name, float("-inf") if name == "gain" else value) for name, value in offer.params.fields)
    params = dataclasses.replace(offer.params, fields=fields)
    lowered[0] = dataclasses.replace(lowered[0], offer=dataclasses.replace(offer, params=params))
    planned = plan.plan(graph, lowered, fakes.TARGET)
    runtime = fakes.runtime(tmp_path / "runtime_c")
    emit.project(graph, planned, target=fakes.TARGET, name="small", runtime=runtime).write(tmp_path / "small")
    for compiler in ("gcc", "clang"):
        done = compiled(compiler, tmp_path / "small" / "small.c", *STRICT)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4", "cortex-m55"])
def test_a_real_model_has_no_warnings(repo, tmp_path, cpu):
    """The digits model with the real kernels, every file, on the PC."""
    need_tool("gcc", "clang")
    graph = pipeline.optimise(pipeline.load(repo / "examples" / "digits" / "digits_int8.tflite"))
    target = target_for(cpu)
    planned = plan.plan(graph, lower(graph, target), target)
    emit.project(graph, planned, target=target, name="digits").write(tmp_path / "digits")
    for source in (tmp_path / "digits" / "digits.c", *(tmp_path / "digits" / "runtime" / "src").glob("*.c")):
        for compiler in ("gcc", "clang"):
            done = compiled(compiler, source, *STRICT, "-O2")
            assert done.returncode == 0, done.stderr
