"""Three forms of one step: plain, compiled, Triton; and a CUDA graph that replays it."""

import importlib.util
import os
import shutil
import sys
import sysconfig
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch

from ..._warn import warn_user
from ..device import on
from . import step

# The second product in parts, where its tiles are too few for all multiprocessors: twice as fast as
# one at 8,192 rows, and deterministic.
_SLICES, _TILE = 4, 128
_WARM_UP, _SHAPES = 3, 256


class Form(NamedTuple):
    """How the three parts of a step are run, and what runs them where they cannot be compiled."""

    gather: object
    middle: object
    update: object
    instead: object = None


PLAIN = Form(step.gather, step.middle, step.update)
_made, _failed = {}, set()


def has_triton():
    return importlib.util.find_spec("triton") is not None


@cache
def has_compiler():
    """Whether Triton can build what calls its kernels, with a C compiler and Python's header."""
    compiler = os.environ.get("CC") or shutil.which("clang") or shutil.which("gcc")
    if compiler and Path(sysconfig.get_paths()["include"], "Python.h").exists():
        return True
    warn_user(
        "Triton has no C compiler, or no header Python.h, to build kernels with: this is slower "
        "without. Debian and Ubuntu have both in gcc and python3-dev."
    )
    return False


def can_compile(device):
    """Whether there are kernels for the device: what torch compiles for CUDA is Triton, too."""
    return torch.device(device).type == "cuda" and has_triton() and has_compiler()


def form_of(name, device):
    """ "plain", "compiled" or "triton"; "auto" is the quickest that the device and machine have."""
    if name == "auto":
        name = "triton" if can_compile(device) else "plain"
    if name != "triton":
        return compiled_form(PLAIN) if name == "compiled" else PLAIN
    from . import triton_step

    return Form(triton_step.gather, triton_step.middle, triton_step.update)


def compiled_form(plain):
    """The same parts compiled, once in a process for all trainings."""
    if plain not in _made:
        _made[plain] = Form(*(torch.compile(part, dynamic=False) for part in plain[:3]))
    return _made[plain]


def plain_or_compiled(plain, name, device):
    """Of parts that have no kernels of ours; "auto" goes on with the plain one if it must."""
    if name == "auto" and can_compile(device) and plain not in _failed:
        return compiled_form(plain)._replace(instead=plain)
    return compiled_form(plain) if name == "compiled" else plain


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


def slices_of(batch, values):
    """Into how many parts a batch is cut for the product that has the shape of ``values``."""
    if values.device.type != "cuda" or batch % (8 * _SLICES):
        return 1
    n_tiles = -(-values.shape[0] // _TILE) * -(-values.shape[1] // _TILE)
    n_units = torch.cuda.get_device_properties(values.device).multi_processor_count
    return _SLICES if n_tiles < 2 * n_units else 1


def one_step(form, state, block):
    rows, labels, share = form.gather(state, block)
    slopes, sums = form.middle(state, product(rows, state.packed), labels, share)
    form.update(state, transposed_product(rows, slopes, state.n_slices), sums)


def _compiler():
    """torch's own, if something was compiled: our kernels do without, and a second sooner."""
    return sys.modules.get("torch._dynamo")


def _is_of_compiler(error):
    return _compiler() is not None and isinstance(error, _compiler().exc.TorchDynamoException)


def _many_shapes():
    """Fits of many sizes in one process compile more often than torch expects."""
    if _compiler() is None:
        return nullcontext()
    return _compiler().config.patch(recompile_limit=_SHAPES)


class Steps:
    """Runs steps on one block: call by call on the CPU, as the replay of a graph on CUDA."""

    def __init__(self, form, state, block):
        self._form, self._state, self._block, self._graph = form, state, block, None
        if block.rows.device.type == "cuda":
            with on(block.rows.device):
                self._compile()

    def run(self, n_steps):
        for _ in range(n_steps):
            if self._graph is None:
                one_step(self._form, self._state, self._block)
            else:
                self._graph.replay()

    def _compile(self):
        """Record the step; a form that this PyTorch cannot compile gives way to another."""
        try:
            self._capture()
        except Exception as error:
            if self._form.instead is None or not _is_of_compiler(error):
                raise
            warn_user(
                "PyTorch cannot compile the step for this device "
                f"({str(error).splitlines()[0][:120]}): it runs uncompiled, which takes longer."
            )
            self._form = self._form.instead
            _failed.add(self._form)
            self._capture()

    def _capture(self):
        """A few steps to compile and warm up, which are then taken back, and one to record."""
        state = self._state
        before = {name: getattr(state, name).clone() for name in state.LEARNED}
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        try:
            with _many_shapes(), torch.cuda.stream(stream):
                for _ in range(_WARM_UP):
                    state.place.zero_()
                    state.count.zero_()
                    one_step(self._form, state, self._block)
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                one_step(self._form, state, self._block)
            self._graph = graph
        finally:  # Ctrl-C while it compiles leaves what was learned
            torch.cuda.current_stream().wait_stream(stream)
            for name, value in before.items():
                getattr(state, name).copy_(value)
