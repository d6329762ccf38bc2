"""Leaving Python: model files, ONNX, C, JavaScript, SQL.

Modules
-------
c/             Models as C99.
description    Objects as data: registered classes by name and fields, arrays by number, no code.
file           ``save`` and ``load``: a fitted model as one file of data.
js             ``to_js``: a fitted model for browsers and Node.
model          The parts of what a user hands over: steps before a model, and the model.
onnx/          Models as ONNX graphs.
prepared_rows  The preparation in a model file: its table for every reader, its steps for Python.
rewrapping     Wrappers as data, and put on again around models that come from a file.
row_scorers    ``row_scorer``: single rows in microseconds, for pipelines and wrapped models.
sql/           Models as SQL.
stored_steps   Transformers as data: a known class, its parameters and what it has learned.
wrappers       scikit-learn's wrappers around our models: taken off, and put on again.
"""
