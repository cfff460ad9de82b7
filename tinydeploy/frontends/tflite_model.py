"""A TFLite file as plain, checked records: its subgraphs with their tensors and operators."""

from __future__ import annotations

import dataclasses

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends.tflite_flatbuffer import Reader, Table
from tinydeploy.frontends.tflite_schema import BUILTINS
from tinydeploy.frontends.tflite_tensor import Tensor, read_tensor, tensor_name

MAX_TENSORS = 1 << 16
MAX_OPERANDS = 1 << 12
MAX_SUBGRAPHS = 1 << 10


@dataclasses.dataclass(frozen=True)
class Operator:
    """One operator of the file; inputs and outputs are tensor numbers, -1 an absent input.

    ``first``, ``second``: (number in the union, table) of its builtin options, and of those of later operators.
    ``intermediates``: tensors that only tell how a quantised LSTM scales what it computes inside.
    """

    index: int
    kind: str
    custom: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    first: tuple[int, Table | None]
    second: tuple[int, Table | None]
    intermediates: tuple[int, ...]


class Subgraph:
    """Lazy view of one subgraph: a tensor is read, and complained about, only when something uses it."""

    def __init__(self, model: Model, table: Table, index: int) -> None:
        self._model, self._table, self.index = model, table, index
        self.tables = table.tables(0)  # of its tensors
        if len(self.tables) > MAX_TENSORS:
            raise model.reader.error(f"it has {len(self.tables)} tensors")
        self._cache: dict[int, Tensor] = {}
        self.inputs = self._indices(table, 1)
        self.outputs = self._indices(table, 2)
        self._names = model.signature(self.inputs, self.outputs) if index == 0 else {}
        self.operators = [self._operator(i, operator) for i, operator in enumerate(table.tables(3))]

    def _indices(self, table: Table, field: int, *, optional: bool = False) -> tuple[int, ...]:
        numbers = table.numbers(field, "<i4")
        indices = () if numbers is None else tuple(int(i) for i in numbers[: MAX_OPERANDS + 1])
        if len(indices) > MAX_OPERANDS:
            raise self._model.reader.error(f"a list names more than {MAX_OPERANDS} tensors")
        for index in indices:
            if not (-1 if optional else 0) <= index < len(self.tables):
                raise self._model.reader.error(f"it uses tensor {index} of {len(self.tables)}")
        return indices

    def _operator(self, index: int, table: Table) -> Operator:
        code, codes = int(table.scalar(0, "I")), self._model.codes
        if code >= len(codes):
            raise self._model.reader.error(f"operator {index} has kind {code} of {len(codes)}")
        kind, custom, version = codes[code]
        inputs = self._indices(table, 1, optional=True)
        outputs = self._indices(table, 2)
        first = int(table.scalar(3, "B")), table.table(4)
        second = int(table.scalar(11, "B")), table.table(12)
        intermediates = self._indices(table, 8)
        return Operator(index, kind, custom, version, inputs, outputs, first, second, intermediates)

    def tensor(self, index: int) -> Tensor:
        """Tensor number ``index``.

        Raises: InputError if it is malformed, UnsupportedError if its type or storage is not supported.
        """
        if index not in self._cache:
            tensor = read_tensor(self._model.reader, self.tables[index], self._model.buffers, index)
            self._cache[index] = dataclasses.replace(tensor, name=self.name(index))
        return self._cache[index]

    def intermediate(self, index: int) -> Tensor:
        """Tensor number ``index``, of which only the scale matters; its shape is often nonsense."""
        return read_tensor(self._model.reader, self.tables[index], self._model.buffers, index, shapeless=True)

    def name(self, index: int) -> str:
        """Name of a tensor, whatever its type; the ends of the model have those of its signature."""
        return self._names.get(index) or tensor_name(self.tables[index], index)


class Model:
    """A file; its first subgraph is the model, others are run by operators of it."""

    def __init__(self, data: bytes, where: str) -> None:
        if len(data) < 8 or data[4:8] != b"TFL3":
            raise InputError(
                Problem(where, "is not a TensorFlow Lite model", "bytes 4 to 7 are 'TFL3'", "is the suffix right?")
            )
        self.reader = Reader(data, where)
        root = self.reader.root()
        version = root.scalar(0, "I")
        if version != 3:
            raise UnsupportedError(Problem(where, f"has schema version {version}", "version 3 is read"))
        self._signatures = root.tables(7)
        self._subgraphs = root.tables(2)
        if not 1 <= len(self._subgraphs) <= MAX_SUBGRAPHS:
            raise self.reader.error(f"it has {len(self._subgraphs) or 'no'} subgraph{'s' * bool(self._subgraphs)}")
        self.buffers = root.tables(4)
        self.codes = [self._code(code) for code in root.tables(1)]
        self._read: dict[int, Subgraph] = {}

    def signature(self, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> dict[int, str]:
        """What the model's one signature calls its ends, which converters otherwise name after their own insides.

        Empty if there is not exactly one, or it is not about these tensors.
        """
        if len(self._signatures) != 1 or self._signatures[0].scalar(4, "I"):
            return {}
        names: dict[int, str] = {}
        for field, ends in ((1, outputs), (0, inputs)):  # a tensor that is both has the name of the input
            entries = self._signatures[0].tables(field)
            found = {int(entry.scalar(1, "I")): entry.string(0) for entry in entries[: MAX_OPERANDS + 1]}
            if set(found) != set(ends):
                return {}
            names |= found
        return names

    @property
    def subgraph_count(self) -> int:
        """How many there are."""
        return len(self._subgraphs)

    @staticmethod
    def _code(table: Table) -> tuple[str, str, int]:
        # Old files hold the number in a byte; new ones store 127 there once the number no longer fits.
        number = max(int(table.scalar(0, "b")), int(table.scalar(3, "i")))
        kind = BUILTINS[number] if 0 <= number < len(BUILTINS) else f"builtin operator {number}"
        return kind, table.string(1), int(table.scalar(2, "i", 1))

    def subgraph(self, index: int = 0) -> Subgraph:
        """Subgraph number ``index``; 0 is the model.

        Raises: InputError if there is none, or it is malformed.
        """
        if not 0 <= index < len(self._subgraphs):
            raise self.reader.error(f"it has {len(self._subgraphs)} subgraphs and uses number {index}")
        if index not in self._read:
            self._read[index] = Subgraph(self, self._subgraphs[index], index)
        return self._read[index]
