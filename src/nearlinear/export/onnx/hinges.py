"""Layers of units that bend, in ONNX."""


def hinges(graph, part, X):
    for weights, biases in zip(part.weights[:-1], part.biases[:-1]):
        X = graph.op("Relu", graph.op("Add", graph.op("MatMul", X, weights), biases))
    return graph.op("Add", graph.op("MatMul", X, part.weights[-1]), part.biases[-1])
