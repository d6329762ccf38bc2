"""Gates that are learned, on a device.

Modules
-------
adam  Gates and their linear models learned by mini-batch Adam on a device, all outputs at once.
step  One step of Adam on learned gates and linear models: softmax, sigmoid, Gaussian.
"""
