"""Forests as gates, forests of others, and cascades.

Modules
-------
cascade        A cascade: cheap models first, and what they are not sure of goes on.
from_forest    A fitted forest of another library, served by our predictor.
local_forest   Local forests.
pair_features  Sums and differences of two columns, as a map before any model.
"""
