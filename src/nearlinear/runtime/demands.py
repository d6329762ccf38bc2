"""How much a file may ask for.

One rule: whatever a file makes a reader hold takes at most 16 times the file's own size and
64 MiB more. It is counted before it is made:

* the header once it is parsed, from the number of its values;
* what descriptions make beside it: texts, which are padded to the longest of them, arrays that
  are kept as another type, sparse rows;
* one row of the model, and the matrix of its nearest anchors.

A row is made wider only by gates, and each of a gate's values has its own number in the file (the
rules of predictors see to that). So many rows take what one row takes, times their number.
"""

_FACTOR, _MORE = 16, 1 << 26
_BYTES_PER_VALUE = 120  # of a parsed header and the parts that are made of it
_MARKS = (b",", b":", b"[", b"{")  # there are as many of them as values, or more


def allowance(n_bytes):
    """What a file of that size may take."""
    return _FACTOR * n_bytes + _MORE


def header_bytes(text):
    """What a header takes when it is parsed, at most."""
    n_values = sum(text.count(mark) for mark in _MARKS)
    return n_values * _BYTES_PER_VALUE + 4 * len(text)


def content_bytes(header, arrays):
    """What descriptions take beside their header and the file's arrays, at most."""
    counts = [header.get(key) for key in ("n_features", "n_gating_features")]
    width = sum(count for count in counts if type(count) is int)
    taken, waiting = 8 * width, [header]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            taken += _taken(value, arrays, width)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return taken


def _taken(value, arrays, width):
    mark, items = value.get("$"), value.get("items")
    if mark == "strings" and isinstance(items, list):
        return 4 * len(items) * max((len(item) for item in items if type(item) is str), default=0)
    if mark == "array" and "as" in value:
        return 8 * _size(value, arrays)
    if mark == "csr":
        return 8 * sum(_size(part, arrays) for part in value.values() if isinstance(part, dict))
    n_neighbors = value.get("n_neighbors")
    if type(n_neighbors) is int:
        return 8 * n_neighbors * (n_neighbors + width)
    return 0


def _size(description, arrays):
    number = description.get("number")
    return arrays[number].size if type(number) is int and 0 <= number < len(arrays) else 0
