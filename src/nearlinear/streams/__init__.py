"""Rows in blocks: files larger than memory as sources that ``fit`` takes.

Modules
-------
arrays      Blocks of arrays, in memory or mapped from .npy files.
blocks      Rows in blocks: what a source is, blocks of one size, and reading while others compute.
checkpoint  How far a fit has come, in a file that appears whole or not at all.
pipeline    A pipeline fitted to rows in blocks: each step to what those before it make of them.
spool       Rows that were worked on once, in files.
survey      One pass over all rows of a source: how many there are, and some of them at random.
svmlight    Blocks of svmlight files: CSR rows, read a stretch of lines at a time.
tables      Blocks of Parquet and CSV tables: one file, several files or a folder.
"""

from .arrays import from_arrays
from .pipeline import fit_pipeline
from .svmlight import from_svmlight
from .tables import from_raw_tables, from_tables

__all__ = [
    "fit_pipeline",
    "from_arrays",
    "from_raw_tables",
    "from_svmlight",
    "from_tables",
]
