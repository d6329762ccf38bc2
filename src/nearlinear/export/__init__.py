"""Leaving Python: model files."""
