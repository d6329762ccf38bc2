"""The bytes of a model file: a JSON header and raw arrays, every one with a checksum.

    0   8 bytes   89 4E 4C 4D 0D 0A 1A 0A ("NLM" between bytes that a text transfer would change)
    8   uint32    format version
    12  uint32    CRC-32 of the format version and the header
    16  uint64    length of the header in bytes
    24            header, UTF-8 JSON
    ...           arrays in C order, each at the next multiple of 64, zeros between

All numbers are little-endian. The header's "arrays" lists dtype, shape, offset and CRC-32 of each
array; the file ends where the last one does. Nothing is allocated before sizes have been held
against the file's own, by the rule of ``demands``.
"""

import json
import math
import zlib
from pathlib import Path

import numpy as np

from .._files import replacing
from .demands import allowance, content_bytes, header_bytes

MAGIC = b"\x89NLM\r\n\x1a\n"
VERSION = 1
_DEEPEST_JSON = 900  # as in nearlinear.js
_FIXED = 24
_ALIGNMENT = 64
_LONGEST_HEADER = 1 << 26
_DTYPES = ("<f4", "<f8", "<i4", "<i8", "|i1", "|u1", "|b1")


class ModelFileError(ValueError):
    """The file is no model file, is damaged, or is of another version; the message says which."""


def write(path, header, arrays):
    """Write a file that appears whole or not at all."""
    pieces = _pieces(header, arrays)
    first = next(pieces)
    size = len(first) + sum(np.asarray(array).nbytes for array in arrays)
    for demand in (header_bytes(first[_FIXED:]), content_bytes(header, arrays)):
        _check_demand(demand, size, "The model")  # or nobody could read it
    try:
        with replacing(path) as file:
            file.write(first)
            for piece in pieces:
                file.write(piece)
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"{path}: cannot be written ({getattr(error, 'strerror', None) or error}); an earlier "
            "file of the name is as it was."
        ) from error


def to_bytes(header, arrays):
    """The same as one bytes object."""
    return b"".join(_pieces(header, arrays))


def read(path):
    """Header and arrays of a file."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"{path}: cannot be read ({reason}).") from error
    return from_bytes(data, str(path))


def from_bytes(data, name="the model"):
    """Header and arrays of a file's bytes."""
    if data[: len(MAGIC)] != MAGIC:
        raise ModelFileError(f"{name} is no model file: it does not begin as one.")
    if len(data) < _FIXED:
        raise ModelFileError(f"{name} is cut short: {len(data)} bytes are left.")
    version, checksum = np.frombuffer(data, "<u4", 2, offset=8).tolist()
    if version != VERSION:
        raise ModelFileError(
            f"{name} has format version {version}, but this release of nearlinear reads version "
            f"{VERSION}: use the release that wrote the file, or save the model again."
        )
    length = int(np.frombuffer(data, "<u8", 1, offset=16)[0])
    if length > min(len(data) - _FIXED, _LONGEST_HEADER):
        raise ModelFileError(f"{name} is cut short or damaged: its header does not fit in it.")
    data = memoryview(data)
    text = data[_FIXED : _FIXED + length]
    if _checksum(text) != checksum:
        raise ModelFileError(f"{name} is damaged: its header has another checksum than written.")
    text = bytes(text)
    _check_demand(header_bytes(text), len(data), name)
    header = _parsed(text, name)
    arrays = _arrays(data, _FIXED + length, header.pop("arrays"), name)
    _check_demand(content_bytes(header, arrays), len(data), name)
    return header, arrays


def _check_demand(n_bytes, file_bytes, name):
    if n_bytes > allowance(file_bytes):
        raise ModelFileError(
            f"{name} asks for too much memory: its {file_bytes} bytes may become "
            f"{allowance(file_bytes)} at most."
        )


def _checksum(text):
    """CRC-32 of the format version and the header."""
    return zlib.crc32(text, zlib.crc32(VERSION.to_bytes(4, "little")))


def _pieces(header, arrays):
    arrays = [_little(array) for array in arrays]
    checksums = [zlib.crc32(array.reshape(-1).view(np.uint8)) for array in arrays]
    entries, length = [], 0
    while True:  # offsets depend on the header's length, which depends on the offsets' digits
        entries = _entries(arrays, checksums, _FIXED + length)
        text = json.dumps(
            {**header, "arrays": entries}, allow_nan=False, separators=(",", ":"), sort_keys=True
        ).encode()
        if len(text) == length:
            break
        length = len(text)
    fixed = np.array([VERSION, _checksum(text)], dtype="<u4").tobytes()
    yield MAGIC + fixed + np.array([length], dtype="<u8").tobytes() + text
    at = _FIXED + length
    for array, entry in zip(arrays, entries, strict=True):
        yield bytes(entry["offset"] - at)
        yield array.tobytes()
        at = entry["offset"] + array.nbytes


def _entries(arrays, checksums, at):
    entries = []
    for array, checksum in zip(arrays, checksums, strict=True):
        offset = -(-at // _ALIGNMENT) * _ALIGNMENT
        entries.append(
            {
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "offset": offset,
                "crc32": checksum,
            }
        )
        at = offset + array.nbytes
    return entries


def _little(array):
    array = np.asarray(array)
    array = np.ascontiguousarray(array).reshape(array.shape)
    little = array.dtype.newbyteorder("<")
    if little.str not in _DTYPES:
        raise TypeError(f"An array of {array.dtype} has no place in a model file.")
    return array.astype(little, copy=False)


def _parsed(text, name):
    try:
        header = json.loads(
            str(text, "utf-8"), object_pairs_hook=_distinct, parse_constant=_refuse,
            parse_float=_finite,
        )  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name} is damaged: its header is not JSON.") from error
    if _is_deep(header):
        raise ModelFileError(f"{name} is damaged: its header is nested too deeply.")
    if not isinstance(header, dict) or not isinstance(header.get("arrays"), list):
        raise ModelFileError(f"{name} is damaged: its header lists no arrays.")
    return header


def _is_deep(header):
    """Python's own reader gives up at some depth, from 3.14 on only where its stack ends."""
    level = [header]
    for _ in range(_DEEPEST_JSON + 1):  # the outermost is level 0, as there
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


def _distinct(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def _finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


def _arrays(data, at, entries, name):
    spans = []
    for number, entry in enumerate(entries):
        dtype, shape, offset, checksum = _entry(entry, number, name)
        offset_wanted = -(-at // _ALIGNMENT) * _ALIGNMENT
        n_bytes = dtype.itemsize
        for extent in shape:
            n_bytes *= extent
        if offset != offset_wanted or n_bytes > len(data) - offset or any(data[at:offset]):
            raise ModelFileError(
                f"{name} is cut short or damaged: array {number} is not where it belongs."
            )
        at = offset + n_bytes
        spans.append((dtype, shape, offset, at, checksum))
    if at != len(data):
        raise ModelFileError(f"{name} has {len(data) - at} bytes more than it should.")
    found = []
    for number, (dtype, shape, start, stop, checksum) in enumerate(spans):
        if zlib.crc32(data[start:stop]) != checksum:
            raise ModelFileError(
                f"{name} is damaged: array {number} has another checksum than written."
            )
        array = np.empty(shape, dtype.newbyteorder("="))
        array.reshape(-1)[:] = np.frombuffer(data[start:stop], dtype)
        found.append(array)
    return found


def _entry(entry, number, name):
    expected = {"dtype", "shape", "offset", "crc32"}
    if isinstance(entry, dict) and set(entry) == expected and entry["dtype"] in _DTYPES:
        shape, offset, checksum = entry["shape"], entry["offset"], entry["crc32"]
        if isinstance(shape, list) and len(shape) <= 8:
            numbers = [*shape, offset, checksum]
            # no extent is larger than a file could be, even beside one of zero
            if all(type(value) is int and 0 <= value < 1 << 40 for value in numbers) and (
                math.prod(max(extent, 1) for extent in shape) < 1 << 50
            ):
                return np.dtype(entry["dtype"]), shape, offset, checksum
    raise ModelFileError(f"{name} is damaged: array {number} is described wrongly.")
