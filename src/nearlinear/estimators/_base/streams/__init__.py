"""Fits that go on: rows and kernels as streams.

Modules
-------
anchors    Anchors as a stream of candidates: each brings a kernel of every bandwidth.
conformal  Conformal kernels from a stream: rows taken in, stored, and solved for at its end.
kernels    Candidate kernels as a stream.
trees      A tree that learns on from the rows of a stream, also one that comes from a file.
"""
