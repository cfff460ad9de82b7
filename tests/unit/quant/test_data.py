"""Data files: what is read, what is fed, and hostile files that must be refused before memory is taken."""

from __future__ import annotations

import contextlib
import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tinydeploy.data import Data, load_data
from tinydeploy.errors import InputError
from tinydeploy.ir import Elem, Graph, Quant, Type

X = np.arange(20, dtype=np.uint8).reshape(5, 4)


def graph(quant: Quant | None = None, names: tuple[str, ...] = ("audio",)) -> Graph:
    made = Graph("g")
    for name in names:
        made.inputs.append(made.add_value(name, Type((1, 4), Elem.S8 if quant else Elem.F32, quant)))
    made.outputs = list(made.inputs)
    return made


def save(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def read(tmp_path: Path, arrays: dict[str, object], model: Graph | None = None, **options: object) -> Data:
    return load_data(save(tmp_path / "d.npz", **arrays), model or graph(), **options)  # type: ignore[arg-type]


def test_by_name_and_by_alias(tmp_path: Path) -> None:
    for key in ("x", "audio"):
        data = read(tmp_path, {key: X, "y": np.arange(5), "names": np.array(["a"] * 5)})
        assert data.x["audio"].shape == (5, 1, 4)
        assert data.x["audio"].dtype == np.float32
        assert data.y is not None
        assert data.count == len(data.y) == 5
        assert data.warnings == ()


def test_several_inputs(tmp_path: Path) -> None:
    data = read(tmp_path, {"a": X, "b": X + 1}, graph(names=("a", "b")))
    assert set(data.x) == {"a", "b"}
    assert data.y is None


def test_data_map(tmp_path: Path) -> None:
    data = read(tmp_path, {"specs": X, "labels": np.arange(5)}, data_map={"x": "specs", "y": "labels"})
    np.testing.assert_array_equal(data.x["audio"].reshape(5, 4), X)
    np.testing.assert_array_equal(data.y, np.arange(5))
    assert read(tmp_path, {"specs": X}, data_map={"audio": "specs"}).count == 5


def test_an_input_called_y_is_no_label(tmp_path: Path) -> None:
    data = read(tmp_path, {"x": X, "y": X}, graph(names=("x", "y")))
    assert set(data.x) == {"x", "y"}
    assert data.y is None


@pytest.mark.parametrize("name", ["x", "audio"])
def test_input_scale_is_for_integers(tmp_path: Path, name: str) -> None:
    scale = {name: (0.5, -1.0)}
    np.testing.assert_allclose(read(tmp_path, {"x": X}, input_scale=scale).x["audio"][0, 0], [-1, -0.5, 0, 0.5])
    untouched = read(tmp_path, {"x": X.astype(np.float32)}, input_scale=scale)
    np.testing.assert_array_equal(untouched.x["audio"].reshape(5, 4), X)
    assert "not applied" in untouched.warnings[0]


def test_integers_of_the_models_own_type_are_fed_as_they_are(tmp_path: Path) -> None:
    model = graph(Quant.per_tensor(0.1, 5))
    own = read(tmp_path, {"x": X.astype(np.int8)}, model)
    assert own.x["audio"].dtype == np.int8
    assert read(tmp_path, {"x": X.astype(np.int8)}, model, input_scale={"x": (1.0, 0.0)}).x["audio"].dtype == np.float32
    assert read(tmp_path, {"x": X}, model).x["audio"].dtype == np.float32


def test_real_data_beyond_a_quantised_input_is_remarked_on(tmp_path: Path) -> None:
    data = read(tmp_path, {"x": X * 10}, graph(Quant.per_tensor(1 / 255, -128)))
    assert "--input-scale audio=MUL,ADD" in data.warnings[0]


def test_python_file(tmp_path: Path) -> None:
    path = tmp_path / "windows.py"
    path.write_text("import numpy as np\ndef load():\n    return {'x': np.ones((6, 4)), 'y': [0] * 6}\n")
    assert load_data(path, graph()).count == 6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no 'load'"),
        ("def load():\n    return 1 / 0\n", "division"),
        ("raise SystemError('boom')", "boom"),
        ("(", "Syntax"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("import sys\ndef load():\n    sys.exit(3)\n", "SystemExit: 3"),
        ("def load():\n    return {}['key']\n", "KeyError: 'key'"),
        ("def load():\n    return 5\n", "not iterable"),
    ],
)
def test_python_file_that_fails(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        load_data(path, graph())


@pytest.mark.parametrize("name", ["none.npz", "none.py"])
def test_missing_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_data(tmp_path / name, graph())


def test_labels_that_are_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--data-map y=KEY"):
        read(tmp_path, {"x": X}, need_labels=True)


def test_wrong_options_are_all_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, {"x": X}, data_map={"y": "nothing", "zz": "x"}, input_scale={"q": (1.0, 0.0)})
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError, match="no array for it"):
        read(tmp_path, {"z": X}, input_scale={"audio": (1.0, 0.0)})


def test_missing_array_names_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'specs' \(5, 4\), 'labels' \(5,\)"):
        read(tmp_path, {"specs": X, "labels": np.arange(5)})


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="never unpickled"):
        read(tmp_path, {"x": np.array([{}], dtype=object)})


def test_what_a_python_file_prints_is_no_part_of_our_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "talks.py"
    path.write_text("print('at the top')\ndef load():\n    print('inside')\n    return {'x': [[0.5] * 4] * 6}\n")
    assert load_data(path, graph()).count == 6
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "at the top\ninside\n")


def test_a_single_label_is_no_label(tmp_path: Path) -> None:
    path = tmp_path / "single.npz"
    np.savez(path, x=np.ones((6, 4), np.float32), y=3)
    with pytest.raises(InputError, match="single value"):
        load_data(path, graph())


def header(shape: str, descr: str = "'<f4'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def archive(path: Path, content: bytes, name: str = "x.npy") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        header("(1000000000, 1000)"),
        header("(-1, 4)") + bytes(16),
        header("(True, 4)") + bytes(16),
        header("(5, 4)") + bytes(79),
        header("(5, 4)") + bytes(81),
        header("(9223372036854775807, 9223372036854775807)") + bytes(16),
        header("(5, 4)", "'<f4; x'") + bytes(80),
        header("__import__('os')") + bytes(80),
        header("(" + "1, " * 40 + ")") + bytes(4),
        b"\x93NUMPY\x09\x00",
        b"\x93NUMPY\x01\x00\xff\xff",
        header("(5, (4"),
        header("[" * 90),
        b"not an array",
        b"",
    ],
)
def test_headers_that_lie(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError):
        load_data(archive(tmp_path / "h.npz", content), graph())


def test_a_bomb_is_refused_by_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tinydeploy.data.MAX_BYTES", 10_000)
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, x=np.zeros((1000, 4), np.uint8), other=np.zeros(10**6))
    with pytest.raises(InputError, match="16,000 bytes in memory"):
        load_data(path, graph())
    np.savez_compressed(path, x=np.zeros((100, 4), np.uint8), other=np.zeros(10**6))
    assert load_data(path, graph()).count == 100, "arrays that are not needed are not read"


def test_broken_archives(tmp_path: Path) -> None:
    good = save(tmp_path / "good.npz", x=X, y=np.arange(5)).read_bytes()
    path = tmp_path / "bad.npz"
    random = np.random.default_rng(0)
    for _ in range(300):
        data = bytearray(good)
        for place in random.integers(0, len(data), int(random.integers(1, 4))):
            data[place] = random.integers(256)
        cut = int(random.integers(len(data))) if random.random() < 0.3 else len(data)
        path.write_bytes(bytes(data[:cut]))
        with contextlib.suppress(InputError):
            load_data(path, graph())


def test_a_folder_and_a_text_are_no_npz(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        load_data(tmp_path, graph())
    text = tmp_path / "t.npz"
    text.write_text("hello")
    with pytest.raises(InputError, match=r"numpy\.savez"):
        load_data(text, graph())
    single = tmp_path / "s.npz"
    buffer = io.BytesIO()
    np.save(buffer, X)
    single.write_bytes(buffer.getvalue())
    with pytest.raises(InputError, match=r"numpy\.savez"):
        load_data(single, graph())
