"""Rows in blocks: files larger than memory as sources that ``fit`` takes."""

from .arrays import from_arrays
from .digits import deformed_images
from .pipeline import fit_pipeline
from .svmlight import from_svmlight
from .tables import from_tables

__all__ = ["deformed_images", "fit_pipeline", "from_arrays", "from_svmlight", "from_tables"]
