"""Local linear models around anchors, on a device.

Modules
-------
adam           Anchors and local models learned together by mini-batch Adam on a device.
forms          Three forms of one step: plain, compiled, Triton; and a CUDA graph that replays it.
step           One step of Adam on anchors and local models, as three plain functions of tensors.
triton_groups  Scores of rows by their nearest anchors alone, as three Triton kernels.
triton_step    The three parts of a step as Triton kernels: one pass over memory each, no atomics.
"""
