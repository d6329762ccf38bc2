"""What runs on a device is tested on the CPU device of torch, and on a GPU where there is one.

``pytest -m gpu`` runs the latter alone. With TRITON_INTERPRET=1, where Triton is installed, its
kernels run on the CPU device, too.
"""

import importlib.util
import os

import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")


def pytest_generate_tests(metafunc):
    """``place`` is (device, form of the step)."""
    if "place" in metafunc.fixturenames:
        places = [pytest.param(("cpu", "plain"), id="cpu")]
        if os.environ.get("TRITON_INTERPRET") == "1" and importlib.util.find_spec("triton"):
            places.append(pytest.param(("cpu", "triton"), id="cpu-triton"))
        reason = "there is no CUDA device"
        marks = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason=reason)]
        forms = ("plain", "compiled", "triton")
        places += [pytest.param(("cuda", form), marks=marks, id=f"cuda-{form}") for form in forms]
        metafunc.parametrize("place", places)
