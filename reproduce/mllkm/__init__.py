"""Picard, "Multiple Locally Linear Kernel Machines", 2024."""
