"""Roots of falling functions of one number, found by many trials at once.

A device tries hundreds of numbers in the time of one. Sums over rows have one order here, which
running sums over sorted rows have not on every device.
"""

import torch

_TRIALS, _ROUNDS = 257, 3


def root(falling, low, high):
    """Where ``falling`` crosses zero between two numbers; the nearer end where it does not."""
    shares = torch.linspace(0.0, 1.0, _TRIALS, dtype=low.dtype, device=low.device)
    for _ in range(_ROUNDS):
        trials = torch.lerp(low, high, shares)
        values = falling(trials)
        last = (values > 0.0).sum().clamp(1, _TRIALS - 1)
        ends = torch.stack([last - 1, last])  # a single number as index would wait for the device
        low, high = trials[ends]
    above, below = values[ends]
    share = torch.where(above > below, above / (above - below), 0.5).clamp(0.0, 1.0)
    return torch.lerp(low, high, share)
