"""torch where it is there: devices by name, tensors among what users pass."""

import re
import sys
from contextlib import contextmanager, nullcontext
from functools import partial


def is_tensor(X):
    """Whether something is a torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def as_array(one):
    """A tensor as an array, which has no numbers of bfloat16; anything else as it is."""
    if not is_tensor(one):
        return one
    require_dense(one)
    one = one.detach().cpu()
    return (one.float() if str(one.dtype) == "torch.bfloat16" else one).numpy()


def require_dense(one):
    """Refuse tensors that are sparse or complex."""
    if str(one.layout) != "torch.strided" or one.is_complex():
        raise ValueError("Tensors of rows are dense and real: give X.to_dense(), or its parts.")


def is_name(text):
    """Whether a text names a device: "cpu", "cuda", "cuda:1"."""
    return re.fullmatch(r"cpu|cuda(:\d+)?", text) is not None


def torch_for(device):
    """torch, if it is installed and has the device; else one sentence that says what to do."""
    if not is_name(str(device)):
        raise ValueError(f"device={device!r} must be 'cpu', 'cuda' or 'cuda:1', 'cuda:2', ...")
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"device={device!r} needs PyTorch: pip install 'nearlinear[gpu]', or leave device out."
        ) from error
    if str(device).startswith("cuda") and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} is not there: this PyTorch sees no CUDA device. Leave device out "
            "to learn on the CPU."
        )
    return torch


def on_device(device, own):
    """What ``own``, of our solvers, is called in this folder, on that device; itself on "cpu"."""
    if device == "cpu":
        return own
    torch_for(device)
    from .anchors import adam as anchors
    from .machine import grams, newton
    from .trees import adam as trees

    kinds = {"anchors": anchors, "trees": trees, "kernels": grams,
             "machine": newton, "mixture": newton}  # fmt: skip
    *_, folder, module = own.__module__.split(".")
    there = kinds.get(module) or kinds[folder]
    return partial(getattr(there, own.__name__), device=device)


def on(device):
    """Makes a device the one that kernels and streams are made for: of several GPUs, the rows'."""
    import torch

    device = torch.device(device)
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


@contextmanager
def full_precision():
    """No TF32 inside, whatever the user has set: its three digits would be the model's."""
    import torch

    try:
        put, none = torch.set_float32_matmul_precision, "highest"
        before = torch.get_float32_matmul_precision()
    except RuntimeError:  # the user has set the newer name, and the older one cannot be read
        products = torch.backends.cuda.matmul
        put, none = partial(setattr, products, "fp32_precision"), "ieee"
        before = products.fp32_precision
    put(none)
    try:
        yield
    finally:
        put(before)


def batch_on(device, batch_size):
    """Rows of a batch: a device takes them in eights, as its matrix units do."""
    return batch_size if device == "cpu" else -(-batch_size // 8) * 8


def free_bytes(device):
    """Bytes that are free on a device; None for the CPU."""
    torch = torch_for(device)
    if not str(device).startswith("cuda"):
        return None
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + unused


def machine_bytes(n_rows, n_features):
    """Bytes on a device that a machine on so many rows takes, whatever kernels it has.

    Three matrices in float64, its own and what is solved of it; blocks of kernels and distances;
    rows and vectors; and what the libraries take.
    """
    matrix = 8 * n_rows**2
    blocks = min(8 << 28, 10 * matrix) + min(1 << 29, 10 * matrix)
    return 3 * matrix + blocks + 24 * n_rows * (n_features + 100)
