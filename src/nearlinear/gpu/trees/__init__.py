"""Local linear models along the paths of trees, on a device.

Modules
-------
adam         Trees learned by mini-batch Adam on a device, one or many at once.
step         One step of Adam on one tree or many: slopes of soft splits and of hard paths.
triton_step  The three parts of a step on trees as Triton kernels.
"""
