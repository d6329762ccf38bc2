"""Supported combinations of Python and libraries, as ``make test-versions`` installs them.

For each minor version of NumPy there is one combination with the oldest supported versions of the
other libraries that can be installed with it, and one with the newest.
"""

from typing import NamedTuple

# In addition to the dependencies and the extras "onnx" and "plot" of pyproject.toml. Lower bounds
# of pandas: tables in Python work from 2.3 on, the command line needs pandas 3.
ADDITIONAL = ("pandas>=2.3", "pyarrow>=19", "onnxruntime>=1.21", "duckdb>=1.2")


class Combination(NamedTuple):
    """Versions of Python and NumPy, and "oldest" or "newest" for all other libraries."""

    name: str
    python: str
    numpy: str
    others: str


COMBINATIONS = (
    Combination("oldest", "3.11", "2.2.0", "oldest"),
    Combination("numpy-2.2", "3.13", "2.2.*", "newest"),
    Combination("numpy-2.3-oldest", "3.11", "2.3.0", "oldest"),
    Combination("numpy-2.3", "3.12", "2.3.*", "newest"),
    Combination("numpy-2.4-oldest", "3.11", "2.4.0", "oldest"),
    Combination("numpy-2.4", "3.11", "2.4.*", "newest"),
    Combination("numpy-2.5-oldest", "3.12", "2.5.0", "oldest"),
    Combination("newest", "3.13", "*", "newest"),
    Combination("python-3.14", "3.14", "*", "newest"),
)
