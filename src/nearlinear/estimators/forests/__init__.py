"""Forests as gates, and forests of other libraries.

Modules
-------
from_forest    A fitted forest of another library, served by our predictor.
local_forest   Local forests.
"""
