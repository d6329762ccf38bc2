"""Rows fed to steps on a device: blocks at addresses that stay, orders, seeds, sizes of batches."""

import numpy as np
import torch

from .anchors.step import Block, padded
from .device import full_precision

BYTE = 1.0 / 255.0  # rows of bytes are learned as fractions
_KEPT = (torch.uint8, torch.float32, torch.bfloat16, torch.float16)


def unit_of(X):
    return BYTE if X.dtype == torch.uint8 else 1.0


def is_kept(X):
    """Whether rows have the type that they came in on the device; others have float32.

    Those, float64 above all, float32 would round: far from the origin nothing would be left.
    """
    return X.dtype in _KEPT


def class_numbers(targets):
    """±1 targets as positions among the classes; 0 and 1 of a single column."""
    if targets.ndim == 2:
        targets = targets[:, 0] > 0 if targets.shape[1] == 1 else targets.argmax(1)
    return targets.to(torch.int32)


def stored(state):
    """What a state has learned, as arrays by name; bfloat16 as float32."""
    tensors = {name: getattr(state, name) for name in state.LEARNED}
    return {
        name: (one.float() if one.dtype == torch.bfloat16 else one).cpu().numpy()
        for name, one in tensors.items()
    }


def give_back(state, arrays):
    """What ``stored`` gave, put where it was."""
    for name in state.LEARNED:
        getattr(state, name).copy_(torch.as_tensor(arrays[name]))


class Feed:
    """Takes blocks of rows to the device and runs a step for each of their mini-batches.

    ``make_steps(block)`` gives what runs them; it is asked again only for a block that has no room
    where the last one was. ``labels_of`` turns targets into what the steps read.
    """

    def __init__(self, device, batch_size, noise, make_steps, labels_of=class_numbers):
        self._device, self.batch, self._noise = torch.device(device), padded(batch_size), noise
        self._make_steps, self._labels_of = make_steps, labels_of
        self._block, self._steps, self._of = None, None, None

    def run(self, X, targets, weight, place, rng):
        """One epoch of a block in a random order; the sizes of its batches."""
        block, n_rows = self._placed(X, targets, weight), X.shape[0]
        n_batches = -(-n_rows // block.batch)
        seeds = rng.integers(2**31, size=2)
        generator = torch.Generator(self._device).manual_seed(int(seeds[0]))
        block.order[:n_rows] = torch.randperm(
            n_rows, generator=generator, device=self._device, dtype=torch.int32
        )
        # the last batch is filled up with rows of this call, which tell trees how far rows are
        past = torch.arange(n_rows, n_batches * block.batch, device=self._device)
        block.order[past] = block.order[past % n_rows]
        block.numbers.copy_(torch.tensor([n_rows, int(seeds[1])]))
        place.zero_()
        with full_precision():
            self._steps.run(n_batches)
        return [block.batch] * (n_batches - 1) + [n_rows - (n_batches - 1) * block.batch]

    def renew(self):
        """Steps of another kind from now on."""
        if self._block is not None:
            with full_precision():
                self._steps = self._make_steps(self._block)

    def _placed(self, X, targets, weight):
        block = self._block
        if block is not None and self._of is X:
            return block
        self._of = None  # until all is in its place: Ctrl-C may come between
        rows = X if isinstance(X, torch.Tensor) else torch.as_tensor(np.ascontiguousarray(X))
        targets = torch.as_tensor(targets, device=self._device)
        weight = torch.as_tensor(weight, device=self._device).float()
        # kernels read labels row after row
        new = rows, self._labels_of(targets).contiguous(), weight.contiguous()
        dtype = rows.dtype if is_kept(rows) else torch.float32
        if block is not None and len(block.rows) >= len(rows) and block.rows.dtype == dtype:
            for old, part in zip((block.rows, block.labels, block.weight), new):
                old[: len(part)] = part.to(self._device)
        else:
            # kernels read a row from its first number on
            rows = rows.to(self._device, dtype).contiguous()
            order = torch.zeros(
                padded(len(rows), self.batch), dtype=torch.int32, device=self._device
            )
            numbers = torch.tensor([len(rows), 0], device=self._device)
            block = Block(rows, *new[1:], order, numbers, self.batch, unit_of(rows), self._noise)
            with full_precision():
                self._steps, self._block = self._make_steps(block), block
        self._of = X
        return self._block
