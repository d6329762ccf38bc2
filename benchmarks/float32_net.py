"""A small network whose prediction is float32 matrix products in blocks, and nothing else."""

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor

BLOCK = 1024  # rows: what is between two layers stays in the cache


class _Float32:
    def fit(self, X, y):
        super().fit(X, y)
        self._layers = [
            (weights.astype(np.float32), bias.astype(np.float32))
            for weights, bias in zip(self.coefs_, self.intercepts_)
        ]
        return self

    def scores(self, X):
        """Of the last layer (n_rows, n_outputs)."""
        found = np.empty((len(X), self._layers[-1][1].size), dtype=np.float32)
        for start in range(0, len(X), BLOCK):
            values = X[start : start + BLOCK]
            for weights, bias in self._layers[:-1]:
                values = values @ weights
                values += bias
                np.maximum(values, 0, out=values)
            weights, bias = self._layers[-1]
            np.matmul(values, weights, out=found[start : start + BLOCK])
            found[start : start + BLOCK] += bias
        return found


class Float32Classifier(_Float32, MLPClassifier):
    def predict(self, X):
        scores = self.scores(X)
        chosen = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[chosen.astype(np.intp)]


class Float32Regressor(_Float32, MLPRegressor):
    def predict(self, X):
        return self.scores(X)[:, 0]
