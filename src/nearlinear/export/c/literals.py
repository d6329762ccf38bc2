"""Numbers, strings and tables as C99 writes them, in plain ASCII."""

import re

import numpy as np

_LONGEST_STRING = 4095  # bytes that C99 promises to take
_LINE = 96
_PLAIN = re.compile(rb"[A-Za-z0-9 _.,:;!#$%&()*+/<=>@\[\]^{|}~'-]")


class CSourceError(ValueError):
    """A model that has no C source, or a place where it cannot be written."""


def too_large():
    return CSourceError(
        "The model has tables or scores too large for float32: standardize the features and fit "
        "again."
    )


def float_literal(value):
    return float_literals(np.array([value]))[0]


def float_literals(values):
    """The shortest decimals that give these numbers back in float32."""
    with np.errstate(over="ignore", under="ignore"):
        values = np.asarray(values, dtype=np.float64).astype(np.float32)
    if not np.all(np.isfinite(values)):
        raise too_large()
    # some targets flush such numbers anyway, and compilers warn of them
    values = np.where(np.abs(values) < np.finfo(np.float32).tiny, np.float32(0.0), values)
    return [f"{text}f" for text in values.astype(str).tolist()]


def string_literal(text, role="class label {}"):
    """A quoted string, with octal escapes of all UTF-8 bytes that are not plain ASCII.

    ``role`` describes the text in an error message.
    """
    data = str(text).encode("utf-8", "surrogatepass")
    if b"\0" in data or len(data) > _LONGEST_STRING:
        raise CSourceError(
            f"The {role.format(repr(str(text)[:20]))} contains a NUL character or has more than "
            f"{_LONGEST_STRING} bytes, which a C string cannot hold: rename it."
        )
    # a question mark is escaped, too: two of them begin a trigraph
    parts = [chr(b) if _PLAIN.match(bytes([b])) else f"\\{b:03o}" for b in data]
    return '"' + "".join(parts) + '"'


def comment_text(text):
    """Text that may stand in a comment: ASCII, on one line, and without its end mark."""
    ascii_text = str(text).encode("ascii", "replace").decode().replace("*/", "* /")
    return " ".join(ascii_text.replace("/*", "/ *").split())


def filled(text, **pieces):
    """C text in which ``name=`` takes the place of <NAME>, one after the other."""
    for name, piece in pieces.items():
        text = text.replace(f"<{name.upper()}>", str(piece))
    return text


def wrapped(items, indent="    "):
    """Items with commas between them, on lines of a readable length."""
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) + 2 > _LINE and line != indent:
            lines.append(line.rstrip())
            line = indent
        line += f"{item}, "
    lines.append(line.rstrip().rstrip(","))
    return "\n".join(lines)
