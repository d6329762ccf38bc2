"""Models as ONNX graphs.

Modules
-------
builder      A small builder of ONNX graphs.
cells        Linear models that fade around the landmarks of a row's cell, as ONNX nodes.
conformal    Linear models that fade around anchors, as ONNX nodes.
curves       Curves as ONNX nodes: knots are counted, and lines looked up.
forests      Forests as one operator of ONNX's own, ``TreeEnsembleRegressor`` of ai.onnx.ml.
gates        Gates of components, and what they blend, as ONNX nodes.
graph        ``to_onnx``: a fitted model as an ONNX graph of standard operators.
hinges       Layers of units that bend, in ONNX.
kernels      Kernels of rows and support rows, and the sums over them, as ONNX nodes.
linear       Local linear models around anchors as ONNX nodes.
outcome      Probabilities and numbers of classes from scores, in ONNX operators.
preparation  A preparation as ONNX nodes.
proto        A built graph as an ONNX model: inputs, outputs, what it says of itself, and the file.
skl2onnx     The models of nearlinear inside pipelines that skl2onnx converts.
sums         Sums of curves and of other models, in ONNX.
trees        Trees of linear models as ONNX nodes: all rows go down together, level by level.
"""
