"""Writes tiny TFLite models with the flatbuffers library, and compares their import with LiteRT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np

from tinydeploy.frontends.tflite_schema import ACTIVATIONS, BUILTINS, ELEMENT_NAMES, OPTIONS, PADDINGS

ELEMENTS = {
    "float32": "FLOAT32",
    "float16": "FLOAT16",
    "int32": "INT32",
    "uint8": "UINT8",
    "int64": "INT64",
    "int16": "INT16",
    "int8": "INT8",
    "bool": "BOOL",
}
_CODES = {"b": "Int8", "i": "Int32", "I": "Uint32", "q": "Int64", "f": "Float32", "?": "Bool"}


class TfliteModel:
    """Collects tensors and operators; `save` writes the file. Tensors are referred to by their number."""

    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []
        self.operators: list[dict[str, Any]] = []
        self.subgraphs: list[tuple[TfliteModel, list[int], list[int]]] = []
        self.signature: tuple[dict[str, int], dict[str, int]] | None = None  # names of inputs and outputs

    def subgraph(self, inner: TfliteModel, inputs, outputs) -> int:
        """Add a subgraph that operators of any subgraph may run; returns its number."""
        self.subgraphs.append((inner, inputs, outputs))
        return len(self.subgraphs)

    def tensor(self, shape, elem="float32", data=None, *, name=None, scale=None, zero=0, axis=0, **more) -> int:
        """``scale`` and ``zero``: a number or a list; ``more``: signature, variable, raw (the buffer), sparse.

        ``sparse``: (order, blocks, levels), a level being the size of a dense dimension or (segments, indices); or True
        for an empty table.
        """
        number = len(self.tensors)
        self.tensors.append(
            {"name": name or f"t{number}", "shape": shape, "elem": elem, "data": data, "scale": scale, "zero": zero}
            | {"axis": axis, **more}
        )
        return number

    def constant(self, array, *, scale=None, zero=0, axis=0, name=None) -> int:
        """A tensor with content."""
        return self.tensor(array.shape, array.dtype.name, array, name=name, scale=scale, zero=zero, axis=axis)

    def op(self, kind: str, inputs, outputs, *, custom="", version=1, **options) -> None:
        """``options``: by the names of `OPTIONS`; activation and padding by name."""
        self.operators.append(
            {"kind": kind, "inputs": inputs, "outputs": outputs, "custom": custom, "version": version}
        )
        self.operators[-1]["options"] = options

    def to_bytes(self, inputs, outputs) -> bytes:
        """The file."""
        b = flatbuffers.Builder(1024)
        parts = [(self, inputs, outputs), *self.subgraphs]
        operators = [o for model, _, _ in parts for o in model.operators]
        codes = sorted({(o["kind"], o["custom"], o["version"]) for o in operators})
        buffers = [b""]
        subgraphs = [model._subgraph(b, ins, outs, codes, buffers) for model, ins, outs in parts]
        code_tables = [self._code(b, *code) for code in codes]
        buffer_tables = []
        for raw in buffers:
            content = b.CreateByteVector(raw) if raw else None
            buffer_tables.append(_table(b, [("offset", content)]))
        lists = [_offsets(b, code_tables), _offsets(b, subgraphs), b.CreateString("test"), _offsets(b, buffer_tables)]
        signatures = None if self.signature is None else _offsets(b, [_signature(b, *self.signature)])
        ends = [("offset", None), ("offset", None), ("offset", signatures)]
        root = _table(b, [("Uint32", 3), *[("offset", part) for part in lists], *ends])
        b.Finish(root, b"TFL3")
        return bytes(b.Output())

    def _subgraph(self, b: Any, inputs, outputs, codes: list[Any], buffers: list[bytes]) -> int:
        first = len(buffers)
        buffers += [self._raw(t) for t in self.tensors]
        tensors = [self._tensor(b, first + i, t) for i, t in enumerate(self.tensors)]
        operators = [self._operator(b, o, codes) for o in self.operators]
        name = b.CreateString("main")
        fields = [_offsets(b, tensors), _numbers(b, inputs, "i4"), _numbers(b, outputs, "i4"), _offsets(b, operators)]
        return _table(b, [("offset", field) for field in (*fields, name)])

    def save(self, folder: Path, inputs, outputs, name="model.tflite") -> Path:
        """Write the file into ``folder``."""
        path = folder / name
        path.write_bytes(self.to_bytes(inputs, outputs))
        return path

    @staticmethod
    def _raw(tensor: dict[str, Any]) -> bytes:
        if tensor.get("raw") is not None:
            return tensor["raw"]
        return b"" if tensor["data"] is None else np.ascontiguousarray(tensor["data"]).tobytes()

    def _tensor(self, b: Any, buffer: int, tensor: dict[str, Any]) -> int:
        quant = None
        if tensor["scale"] is not None:
            scales = _numbers(b, np.atleast_1d(tensor["scale"]), "f4")
            zeros = _numbers(b, np.broadcast_to(tensor["zero"], np.shape(np.atleast_1d(tensor["scale"]))), "i8")
            fields = [("offset", None)] * 2 + [("offset", scales), ("offset", zeros), ("Uint8", 0), ("offset", None)]
            quant = _table(b, [*fields, ("Int32", tensor["axis"])])
        name, shape = b.CreateString(tensor["name"]), _numbers(b, tensor["shape"], "i4")
        sparse = _sparsity(b, tensor["sparse"]) if tensor.get("sparse") else None
        signature = _numbers(b, tensor["signature"], "i4") if tensor.get("signature") is not None else None
        number = ELEMENT_NAMES.index(ELEMENTS.get(tensor["elem"], tensor["elem"]))
        fields = [("offset", shape), ("Int8", number), ("Uint32", buffer), ("offset", name), ("offset", quant)]
        more = [("Bool", bool(tensor.get("variable"))), ("offset", sparse), ("offset", signature), ("Bool", True)]
        return _table(b, fields + more)

    def _operator(self, b: Any, operator: dict[str, Any], codes: list[Any]) -> int:
        options, union = None, 0
        if operator["options"]:
            union, layout = OPTIONS[operator["kind"]]
            fields: list[tuple[str, Any]] = []
            for key, code, default in layout:
                value = operator["options"].get(key, default)
                if code == "s":
                    fields.append(("offset", b.CreateString(value or "")))
                    continue
                if len(code) > 1:
                    fields.append(("offset", _numbers(b, value, code)))
                    continue
                table = {"activation": ACTIVATIONS, "padding": PADDINGS}.get(key, ())
                value = table.index(value) if isinstance(value, str) else value
                fields.append((_CODES[code], value))
            options = _table(b, fields)
        code = codes.index((operator["kind"], operator["custom"], operator["version"]))
        ins, outs = _numbers(b, operator["inputs"], "i4"), _numbers(b, operator["outputs"], "i4")
        return _table(b, [("Uint32", code), ("offset", ins), ("offset", outs), ("Uint8", union), ("offset", options)])

    @staticmethod
    def _code(b: Any, kind: str, custom: str, version: int) -> int:
        number = BUILTINS.index(kind)
        text = b.CreateString(custom) if custom else None
        return _table(b, [("Int8", min(number, 127)), ("offset", text), ("Int32", version), ("Int32", number)])


def _table(b: Any, fields: list[tuple[str, Any]]) -> int:
    b.StartObject(len(fields))
    for slot, (kind, value) in enumerate(fields):
        if kind == "offset":
            if value is not None:
                b.PrependUOffsetTRelativeSlot(slot, value, 0)
        else:
            getattr(b, f"Prepend{kind}")(value)
            b.Slot(slot)
    return b.EndObject()


def _signature(b: Any, inputs: dict[str, int], outputs: dict[str, int]) -> int:
    maps = []
    for ends in (inputs, outputs):
        names = [b.CreateString(name) for name in ends]
        entries = [("offset", name) for name in names]
        tables = [_table(b, [e, ("Uint32", i)]) for e, i in zip(entries, ends.values(), strict=True)]
        maps.append(_offsets(b, tables))
    key = b.CreateString("serving_default")
    return _table(b, [("offset", maps[0]), ("offset", maps[1]), ("offset", key), ("offset", None), ("Uint32", 0)])


def _sparsity(b: Any, layout: Any) -> int:
    if layout is True:
        return _table(b, [])
    order, blocks, levels = layout
    tables = []
    for level in levels:
        if isinstance(level, int):
            tables.append(_table(b, [("Int8", 0), ("Int32", level)]))
            continue
        vectors = [_table(b, [("offset", _numbers(b, numbers, "i4"))]) for numbers in level]
        fields = [("Uint8", 1), ("offset", vectors[0]), ("Uint8", 1), ("offset", vectors[1])]
        tables.append(_table(b, [("Int8", 1), ("Int32", 0), *fields]))
    fields = [_numbers(b, order, "i4"), _numbers(b, blocks, "i4"), _offsets(b, tables)]
    return _table(b, [("offset", field) for field in fields])


def _offsets(b: Any, items: list[int]) -> int:
    b.StartVector(4, len(items), 4)
    for item in reversed(items):
        b.PrependUOffsetTRelative(item)
    return b.EndVector()


def _numbers(b: Any, values: Any, dtype: str) -> int:
    return b.CreateNumpyVector(np.asarray(values, dtype).reshape(-1))


def small_cnn(*, quantised: bool = False) -> TfliteModel:
    """Input 0 [1, 6, 6, 2], output the last tensor [1, 3]: conv, depthwise, pool, reshape, dense, softmax."""
    rng = np.random.default_rng(5)
    model = TfliteModel()

    def value(shape, scale, zero=0):
        return model.tensor(shape, "int8", scale=scale, zero=zero) if quantised else model.tensor(shape)

    def weights(shape, axis, x_scale, *, per_tensor=False):
        outputs = shape[axis]
        if not quantised:
            kernel = model.constant(rng.normal(size=shape).astype("f4"))
            return kernel, model.constant(rng.normal(size=outputs).astype("f4"))
        scales = np.full(1, 0.01) if per_tensor else rng.uniform(0.005, 0.02, outputs)
        kernel = model.constant(rng.integers(-127, 128, shape).astype("i1"), scale=scales, axis=axis)
        bias = rng.integers(-500, 500, outputs).astype("i4")
        return kernel, model.constant(bias, scale=np.float32(x_scale) * scales.astype("f4"), axis=0)

    x = value([1, 6, 6, 2], 0.05, 3)
    kernel, bias = weights([4, 3, 3, 2], 0, 0.05)
    a = value([1, 3, 3, 4], 0.04, -128)
    model.op("CONV_2D", [x, kernel, bias], [a], padding="SAME", stride_h=2, stride_w=2, activation="RELU6")
    kernel, bias = weights([1, 2, 2, 8], 3, 0.04)
    c = value([1, 3, 3, 8], 0.06, 5)
    model.op("DEPTHWISE_CONV_2D", [a, kernel, bias], [c], padding="SAME", stride_h=1, stride_w=1, depth_multiplier=2)
    d = value([1, 1, 1, 8], 0.06, 5)
    model.op("AVERAGE_POOL_2D", [c], [d], padding="VALID", stride_h=3, stride_w=3, filter_height=3, filter_width=3)
    e = value([1, 8], 0.06, 5)
    shape = model.constant(np.array([-1, 8], "i4"))
    model.op("RESHAPE", [d, shape], [e], new_shape=[-1, 8])
    kernel, bias = weights([3, 8], 0, 0.06, per_tensor=True)
    f = value([1, 3], 0.1, 0)
    model.op("FULLY_CONNECTED", [e, kernel, bias], [f], activation="NONE")
    g = value([1, 3], 1 / 256, -128)
    model.op("SOFTMAX", [f], [g], beta=1.0)
    return model
