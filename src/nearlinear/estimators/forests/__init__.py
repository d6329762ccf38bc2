"""Forests as gates, forests of others, and cascades."""
