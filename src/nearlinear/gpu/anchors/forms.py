"""Three forms of one step: plain, compiled, Triton; and a CUDA graph that replays it."""

import importlib.util
from typing import NamedTuple

import torch
import torch._dynamo

from . import step

_SLICES = 4  # the second product in parts: twice as fast as one at 8,192 rows, and deterministic
_WARM_UP, _SHAPES = 3, 256


class Form(NamedTuple):
    """How the three parts of a step are run."""

    gather: object
    middle: object
    update: object


PLAIN = Form(step.gather, step.middle, step.update)
_made = {}


def has_triton():
    return importlib.util.find_spec("triton") is not None


def form_of(name, device):
    """ "plain", "compiled" or "triton"; "auto" is the quickest that the device and machine have."""
    is_cuda = torch.device(device).type == "cuda"
    if name == "auto":
        name = ("triton" if has_triton() else "compiled") if is_cuda else "plain"
    if name != "triton":
        return compiled_form(PLAIN) if name == "compiled" else PLAIN
    from . import triton_step

    return Form(triton_step.gather, triton_step.middle, triton_step.update)


def compiled_form(plain):
    """The same parts compiled, once in a process for all trainings."""
    if plain not in _made:
        _made[plain] = Form(*(torch.compile(part, dynamic=False) for part in plain))
    return _made[plain]


def product(rows, packed):
    """rows @ packed in float32."""
    if rows.dtype == torch.float32:
        return rows @ packed
    if rows.device.type == "cuda":
        return torch.mm(rows, packed, out_dtype=torch.float32)
    return rows.float() @ packed.float()


def transposed_product(rows, slopes, n_slices):
    """rowsᵀ @ slopes in float32, in slices of the batch that are still to be summed."""
    rows = rows.view(n_slices, -1, rows.shape[1]).transpose(1, 2)
    slopes = slopes.view(n_slices, -1, slopes.shape[1])
    if rows.dtype == torch.float32:
        return torch.bmm(rows, slopes)
    if rows.device.type == "cuda":
        return torch.bmm(rows, slopes, out_dtype=torch.float32)
    return torch.bmm(rows.float(), slopes.float())


def slices_of(batch, device):
    return _SLICES if torch.device(device).type == "cuda" and batch % (8 * _SLICES) == 0 else 1


def one_step(form, state, block):
    rows, labels, share = form.gather(state, block)
    slopes, sums = form.middle(state, product(rows, state.packed), labels, share)
    form.update(state, transposed_product(rows, slopes, state.n_slices), sums)


class Steps:
    """Runs steps on one block: call by call on the CPU, as the replay of a graph on CUDA."""

    def __init__(self, form, state, block):
        self._form, self._state, self._block, self._graph = form, state, block, None
        if block.rows.device.type == "cuda":
            self._capture()

    def run(self, n_steps):
        for _ in range(n_steps):
            if self._graph is None:
                one_step(self._form, self._state, self._block)
            else:
                self._graph.replay()

    def _capture(self):
        """A few steps to compile and warm up, which are then taken back, and one to record."""
        state = self._state
        before = {name: getattr(state, name).clone() for name in state.LEARNED}
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        # fits of many sizes in one process compile more often than torch expects
        more = torch._dynamo.config.patch(recompile_limit=_SHAPES)
        with more, torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                state.place.zero_()
                state.count.zero_()
                one_step(self._form, state, self._block)
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            one_step(self._form, state, self._block)
        for name, value in before.items():
            getattr(state, name).copy_(value)
