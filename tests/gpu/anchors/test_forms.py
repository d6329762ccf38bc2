"""Which form of a step runs, and what runs where PyTorch cannot compile it."""

import types

import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from torch._dynamo.exc import TorchDynamoException

from nearlinear.gpu.anchors import forms


class Refusing(forms.Steps):
    """Steps whose first form does not compile."""

    def _capture(self):
        if self._form.instead is not None:
            raise TorchDynamoException("no such instruction\nand much more")


def test_a_step_that_does_not_compile_runs_uncompiled(monkeypatch):
    monkeypatch.setattr(forms, "can_compile", lambda device: True)
    monkeypatch.setattr(forms, "_failed", set())
    plain = forms.Form(len, sum, max)
    block = types.SimpleNamespace(rows=torch.zeros(1))
    steps = Refusing(forms.plain_or_compiled(plain, "auto", "cuda"), None, block)
    with pytest.warns(UserWarning, match=r"cannot compile the step .*\(no such instruction\)"):
        steps._compile()
    assert steps._form == plain
    assert forms.plain_or_compiled(plain, "auto", "cuda") == plain  # it is not tried again


def test_without_triton_steps_are_plain(monkeypatch):
    monkeypatch.setattr(forms, "has_triton", lambda: False)
    assert forms.form_of("auto", "cuda") == forms.PLAIN
    assert forms.plain_or_compiled(forms.PLAIN, "auto", "cuda") == forms.PLAIN


def test_without_a_compiler_there_are_no_kernels_and_one_warning(monkeypatch):
    monkeypatch.setattr(forms.shutil, "which", lambda name: None)
    monkeypatch.delenv("CC", raising=False)
    forms.has_compiler.cache_clear()
    try:
        with pytest.warns(UserWarning, match="no C compiler"):
            assert not forms.has_compiler()
        assert not forms.can_compile("cuda")  # and no second warning
    finally:
        forms.has_compiler.cache_clear()
