"""The report: one page about a model that opens offline, and runs the model itself.

Modules
-------
"""
