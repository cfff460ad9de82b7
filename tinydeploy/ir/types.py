"""What a tensor is: a shape of any rank, an element type and, where it is quantised, the mapping to real values."""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


class Elem(enum.Enum):
    """Element type. The value is the name used in files and JSON; sub-byte types are held one a byte in NumPy."""

    F32 = "float32"
    F16 = "float16"
    F64 = "float64"
    S4 = "int4"
    S8 = "int8"
    U8 = "uint8"
    S16 = "int16"
    U16 = "uint16"
    S32 = "int32"
    U32 = "uint32"
    S64 = "int64"
    U64 = "uint64"
    BOOL = "bool"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype that holds it."""
        return np.dtype("int8" if self is Elem.S4 else self.value)

    @property
    def bits(self) -> int:
        """Bits an element takes when packed."""
        return 4 if self is Elem.S4 else self.dtype.itemsize * 8

    @property
    def c_type(self) -> str:
        """The C99 type of one element in memory."""
        special = {Elem.F32: "float", Elem.F64: "double", Elem.BOOL: "uint8_t", Elem.F16: "uint16_t", Elem.S4: "int8_t"}
        return special.get(self, f"{self.value}_t")

    @property
    def is_float(self) -> bool:
        """True for float16, float32, float64."""
        return self in (Elem.F16, Elem.F32, Elem.F64)

    @property
    def limits(self) -> tuple[int, int]:
        """Lowest and highest integer (bool: 0, 1). Not for floats."""
        if self is Elem.BOOL:
            return 0, 1
        if self.value.startswith("u"):
            return 0, 2**self.bits - 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1


@dataclasses.dataclass(frozen=True)
class Quant:
    """``real = scale * (q - zero_point)``, per tensor (``axis`` None) or per index of ``axis``.

    ``scale``: float32 values held as Python floats, one or one an index. ``zero_point``: as many integers.
    ``levels``: the allowed integers where they are fewer than the element type's (for example (-3, -1, 1, 3)).
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int | None = None
    levels: tuple[int, ...] | None = None

    @staticmethod
    def per_tensor(scale: float, zero_point: int = 0) -> Quant:
        """One scale for the whole tensor; the scale is rounded to float32, as every file format stores it."""
        return Quant((float(np.float32(scale)),), (int(zero_point),))

    @staticmethod
    def per_channel(scales: npt.ArrayLike, axis: int) -> Quant:
        """Symmetric, one scale an index of ``axis``."""
        values = tuple(float(np.float32(s)) for s in np.asarray(scales).ravel())
        return Quant(values, (0,) * len(values), axis)

    def scales(self) -> Array:
        """The scales as float64 (exact float32 values)."""
        return np.asarray(self.scale, dtype=np.float64)

    def zero_points(self) -> Array:
        """The zero points as int64."""
        return np.asarray(self.zero_point, dtype=np.int64)

    def broadcast(self, values: Array, rank: int) -> Array:
        """Shape a per-index vector so that it broadcasts against a tensor of ``rank``."""
        if self.axis is None:
            return values.reshape((1,) * rank) if rank else values.reshape(())
        return values.reshape(tuple(-1 if i == self.axis else 1 for i in range(rank)))


@dataclasses.dataclass(frozen=True)
class Type:
    """Shape, element type and quantisation of a value. Rank 0 to 6."""

    shape: tuple[int, ...]
    elem: Elem
    quant: Quant | None = None

    @property
    def size(self) -> int:
        """Number of elements (1 for rank 0)."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes when stored densely, sub-byte elements packed."""
        return (self.size * self.elem.bits + 7) // 8

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def scale(self) -> float:
        """The one scale. Only for per-tensor quantised types."""
        assert self.quant is not None
        assert len(self.quant.scale) == 1
        return self.quant.scale[0]

    @property
    def zero_point(self) -> int:
        """The one zero point. Only for per-tensor quantised types."""
        assert self.quant is not None
        assert len(self.quant.zero_point) == 1
        return self.quant.zero_point[0]

    def with_shape(self, shape: tuple[int, ...]) -> Type:
        """The same elements in another shape."""
        return dataclasses.replace(self, shape=tuple(int(d) for d in shape))

    def __str__(self) -> str:
        dims = "x".join(str(d) for d in self.shape)
        text = f"{self.elem.value}[{dims}]"
        if self.quant is None:
            return text
        if len(self.quant.scale) == 1:
            return f"{text} {self.quant.scale[0]:.9g}*(q{-self.quant.zero_point[0]:+d})"
        return f"{text} per axis {self.quant.axis}"


def quantise(real: Array, kind: Type) -> Array:
    """Real values to the integers of ``kind`` (round half to even as NumPy; saturating).

    Any shape of ``kind``'s rank or per tensor.
    """
    assert kind.quant is not None
    rank = np.ndim(real)
    scale = kind.quant.broadcast(kind.quant.scales(), rank)
    zero = kind.quant.broadcast(kind.quant.zero_points(), rank)
    low, high = kind.elem.limits
    rounded: Array = np.rint(np.asarray(real, np.float64) / scale) + zero
    return np.clip(rounded, low, high).astype(kind.elem.dtype)


def dequantise(integers: Array, kind: Type) -> Array:
    """Integers of ``kind`` to real values, float32; a type without quantisation is only cast."""
    if kind.quant is None:
        return integers if kind.elem.is_float else integers.astype(np.float32)
    rank = np.ndim(integers)
    scale = kind.quant.broadcast(kind.quant.scales(), rank)
    zero = kind.quant.broadcast(kind.quant.zero_points(), rank)
    with np.errstate(over="ignore"):
        return ((integers.astype(np.float64) - zero) * scale).astype(np.float32)
