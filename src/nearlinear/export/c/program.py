"""A C source file while it is put together: tables, functions, and what they cost.

In C texts, "@" stands for the prefix of all names, "@@" for the same in capitals, and "$" for the
name that the defined thing gets. A text that is defined twice is written once: models whose
outputs are built alike share their code and differ in tables.
"""

import re
from dataclasses import dataclass

import numpy as np

from ...kinds import rule_for
from .literals import CSourceError, float_literal, float_literals, too_large, wrapped
from .quantized import quantize

C_TYPES = {
    "float": np.float32, "int8_t": np.int8, "uint8_t": np.uint8, "uint16_t": np.uint16,
    "uint32_t": np.uint32,
}  # fmt: skip
_UNSIGNED = ("uint8_t", "uint16_t", "uint32_t")
_FRAME = 48  # bytes that a call keeps on the stack besides its arrays
_BYTES_PER_CHARACTER = 0.38  # of code at -Os on a Cortex-M4: measured over all kinds of models
_CHUNK = 1 << 14
_NO_CODE = re.compile(
    r"/\*.*?\*/|typedef struct \{.*?\} \S+;|^(?:static )?const [^\n]* = \{.*?^\};",
    re.DOTALL | re.MULTILINE,
)
_BUFFER = re.compile(r"^\s+(?:float|size_t) \w+\[([^\]]+)\];", re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """A C function (tables, row, out) and the tables that make it one part of a model."""

    function: str
    tables: dict
    n_outputs: int
    multiply_adds: int


@dataclass(frozen=True)
class Table:
    """A constant array."""

    symbol: str
    ctype: str
    values: np.ndarray
    shape: tuple

    @property
    def n_bytes(self):
        return self.values.nbytes

    def render(self):
        flat = self.values.ravel()
        write = float_literals if self.ctype == "float" else _whole_literals
        pieces = (write(flat[i : i + _CHUNK]) for i in range(0, len(flat), _CHUNK))
        body = ",\n".join(wrapped(piece) for piece in pieces)
        return f"static const {self.ctype} {self.symbol}[{len(flat)}] = {{\n{body}\n}};\n"


def lower(part, program):
    """A predictor or gate as a part of the program."""
    return rule_for("c", part, CSourceError)(part, program)


class Program:
    """Collects what the parts of a model define."""

    def __init__(self, is_int8):
        self.is_int8 = is_int8
        self.tables = []
        self.record_bytes = 0
        self._table_symbols = {}
        self._texts = {}
        self._functions = {}
        public = ("scores", "probabilities", "predict", "value", "labels")
        self._taken = {f"@_{name}" for name in public}
        self._extents = {}

    # --- tables -------------------------------------------------------------------------------

    def matrix(self, name, rows):
        """Initializer of a matrix: a table of rows, in int8 with a scale for each."""
        rows = np.asarray(rows, dtype=np.float64)
        width = rows.shape[-1]
        rows = rows.reshape(-1, width)
        if not self.is_int8:
            return {"values": self._table(name, "float", rows), "width": width}
        whole, scales = quantize(rows)
        values = self._table(name, "int8_t", whole)
        return {"values": values, "scales": self.vector(f"{name}_scales", scales), "width": width}

    def vector(self, name, values):
        return self._table(name, "float", np.asarray(values, dtype=np.float64))

    def indices(self, name, values):
        values = np.asarray(values)
        if values.size and values.max() > np.iinfo(np.uint16).max:
            raise CSourceError(
                f"The model's {name.replace('_', ' ')} count beyond 65535, more than its C tables "
                "can name: fit a smaller model."
            )
        return self._table(name, "uint16_t", values)

    def counts(self, name, values):
        """A table of whole numbers in the shortest type that holds them, and that type."""
        largest = int(np.max(values, initial=0))
        ctype = next(word for word in _UNSIGNED if largest <= np.iinfo(C_TYPES[word]).max)
        return self._table(name, ctype, np.asarray(values)), ctype

    def words(self, name, values):
        """A table of words of 32 bits."""
        return self._table(name, "uint32_t", values)

    def bytes(self, name, values):
        """A table of whole numbers from −127 to 127."""
        return self._table(name, "int8_t", values)

    def _table(self, name, ctype, values):
        if values.size == 0:
            return "0"
        with np.errstate(over="ignore", under="ignore"):
            stored = np.ascontiguousarray(values.astype(C_TYPES[ctype]))
        if not np.all(np.isfinite(stored)):
            raise too_large()
        key = (ctype, stored.tobytes())
        if key not in self._table_symbols:
            symbol = self._fresh(name)
            self._table_symbols[key] = symbol
            self.tables.append(Table(symbol, ctype, stored, values.shape))
        return self._table_symbols[key]

    # --- code ---------------------------------------------------------------------------------

    def define(self, name, text):
        """The symbol of a function or type that the text defines."""
        if (name, text) not in self._texts:
            symbol = self._texts[name, text] = self._fresh(name)
            self._functions[symbol] = text.strip("\n").replace("$", symbol) + "\n"
        return self._texts[name, text]

    def constant(self, name, ctype, tables):
        """A constant record, or an array of records where ``tables`` is a list."""
        is_list = isinstance(tables, list)
        extent = f"[{len(tables)}]" if is_list else ""
        symbol = self._fresh(name)
        text = f"static const {ctype} {symbol}{extent} = {self._record(tables)};\n"
        self._functions[symbol] = text
        return symbol

    def at_least(self, name, extent):
        """Arrays on the stack named MAX_name hold at least so many numbers."""
        self._extents[name] = max(extent, 1, self._extents.get(name, 1))

    def _record(self, value, depth=1):
        pad = "    " * depth
        if isinstance(value, dict):
            items = [f"{pad}.{k} = {self._record(v, depth + 1)}" for k, v in value.items()]
            return "{\n" + ",\n".join(items) + "\n" + pad[4:] + "}"
        if isinstance(value, list):
            items = [pad + self._record(item, depth + 1) for item in value]
            return "{\n" + ",\n".join(items) + "\n" + pad[4:] + "}"
        self.record_bytes += 4  # a pointer, a size or a float of a 32-bit processor
        return float_literal(value) if isinstance(value, float) else str(value)

    def _fresh(self, name):
        symbol, number = f"@_{name}", 1
        while symbol in self._taken:
            number += 1
            symbol = f"@_{name}_{number}"
        self._taken.add(symbol)
        return symbol

    # --- the file -----------------------------------------------------------------------------

    def render(self):
        """Extents, tables and definitions, each after what it needs."""
        extents = [f"#define @@_MAX_{name} {size}\n" for name, size in self._extents.items()]
        tables = [table.render() for table in self.tables]
        return "\n".join(filter(None, ["".join(extents), *tables, *self._functions.values()]))

    @property
    def table_bytes(self):
        return sum(table.n_bytes for table in self.tables) + self.record_bytes

    def code_bytes(self, *more):
        """An estimate, from the length of the code."""
        texts = (*self._functions.values(), *more)
        bare = [_NO_CODE.sub("", text) for text in texts]
        return int(_BYTES_PER_CHARACTER * sum(len("".join(text.split())) for text in bare))

    def stack_bytes(self, text):
        """Arrays and frames of a function and of the deepest calls that it makes."""
        own = _FRAME
        for extent in _BUFFER.findall(text):
            sizes = [self._extent(word) for word in extent.split(" * ")]
            own += 4 * int(np.prod(sizes))
        called = {name for name in self._functions if re.search(rf"{re.escape(name)}\(", text)}
        bodies = [body for body in (self._functions[name] for name in called) if body != text]
        return own + max((self.stack_bytes(body) for body in bodies), default=0)

    def _extent(self, word):
        return int(word) if word.isdigit() else self._extents[word.removeprefix("@@_MAX_")]


def _whole_literals(values):
    end = "u" if values.dtype == np.uint32 else ""
    return [f"{value}{end}" for value in values.tolist()]
