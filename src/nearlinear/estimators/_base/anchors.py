"""What the anchor methods share: anchors from data, gates by name, learning from a stream."""

import numpy as np
from sklearn.utils.validation import check_array

from ..._compile import one_blas_thread
from ...gates.anchors import InverseDistance, ReconstructionCodes, SoftAssignment, default_sharpness
from ...gates.clustering import fit_anchors, fit_class_anchors, limit_to_distinct
from ...predictors.locally_linear import LocallyLinear
from ...solvers.anchors.sgd import RowTrainer
from ...solvers.solution import LocalModels
from .constraints import SHARED, at_least, one_of, positive
from .old_model import LocalClassifier, require_memory, row_copies
from .rows import class_targets, merge_rows
from .whole_fit import keeping


class AnchorClassifier(LocalClassifier):
    """Local models around anchors."""

    _parameter_constraints = {
        **SHARED,
        "n_anchors": [at_least(1), one_of("auto")],
        "n_neighbors": [at_least(1)],
        "anchors": [one_of("kmeans", "class_balanced"), "array-like"],
        "sharpness": [positive()],
    }

    def _make_anchors(self, rows, rng, most=100):
        """Anchors as the parameters ask, in the rows' own precision; ``most`` bounds "auto"."""
        if not isinstance(self.anchors, str):
            anchors = check_array(self.anchors, dtype=rows.X.dtype, order="C", copy=True)
            if anchors.shape[1] != rows.X.shape[1]:
                raise ValueError(
                    f"anchors has {anchors.shape[1]} columns, X has {rows.X.shape[1]} features."
                )
            return anchors
        n_rows = rows.X.shape[0]
        wanted = max(1, min(most, n_rows // 10)) if self.n_anchors == "auto" else self.n_anchors
        wanted = limit_to_distinct(wanted, rows.n_distinct, "n_anchors")
        if self.anchors == "class_balanced":
            return fit_class_anchors(rows.X, rows.labels, wanted, rng, rows.weight)
        return fit_anchors(rows.X, wanted, rng, rows.weight)

    def _make_gate(self, anchors, X, coding):
        """The gate named by ``coding``; the bandwidth is relative to the spread of distances."""
        n_neighbors = min(self.n_neighbors, len(anchors))
        if coding == "inverse":
            return InverseDistance(anchors, n_neighbors)
        if coding == "reconstruction":
            return ReconstructionCodes(anchors, n_neighbors)
        scale = default_sharpness(anchors, n_neighbors, X)
        return SoftAssignment(anchors, n_neighbors, float(self.sharpness * scale))

    def _check_memory(self, X, n_outputs, itemsize, copies):
        n_rows, n_features = X.shape
        n_anchors = min(n_rows, 100 if self.n_anchors == "auto" else self.n_anchors)
        model = n_anchors * (n_features + 1) * (n_outputs + 1)
        codes = n_rows * min(self.n_neighbors, n_anchors) * (itemsize + 4)
        dual = n_rows * n_outputs * 24
        size = copies * model * itemsize + codes + dual + row_copies(X)
        require_memory(size, self.max_memory, "lower n_anchors")

    def _stream(self, X, y, classes, sample_weight, *, coding, width, anchor_rate):
        """Take one step for each row; the first call also makes the anchors."""
        X, labels, weight = self._stream_rows(X, y, classes, sample_weight)
        targets = class_targets(labels, len(self.classes_), np.float64)
        rng = self._stream_rng()
        if not hasattr(self, "_trainer"):
            if not hasattr(self, "predictor_"):
                self._start_stream(X, labels, weight, coding, width(X), rng)
            gate = self.predictor_.gate
            start = LocalModels(
                gate.anchors,
                getattr(gate, "sharpness", 1.0),
                self.predictor_.weights,
                self.predictor_.biases,
                getattr(gate, "metric", None),
            )
            self._trainer = RowTrainer.start_from(start, X, self._stream_C(), anchor_rate(X))
            self._weight_seen = 0.0
        self._weight_seen += weight.sum()
        ridge = 1.0 / (self._stream_C() * self._weight_seen)
        with one_blas_thread(), keeping(self, "what was learned from the rows so far is"):
            self._trainer.train(
                X,
                targets,
                weight,
                self.predictor_.gate,
                loss=self._stream_loss(),
                ridge=ridge,
                rng=rng,
            )
        model = self._trainer.model(self._score_dtype)
        gate = self.predictor_.gate
        if self._trainer.anchor_rate > 0:
            gate = model.gate(gate.n_neighbors)
        self.predictor_ = LocallyLinear(gate, model.weights, model.biases)
        return self

    def _stream_C(self):
        return self.C

    def _stream_loss(self):
        return self.loss

    def _start_stream(self, X, labels, weight, coding, width, rng):
        n_outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        self._check_memory(X, n_outputs, 8, copies=3)
        rows = merge_rows(X, labels, weight, len(self.classes_))
        anchors = self._make_anchors(rows, rng)
        gate = self._make_gate(anchors, rows.X, coding)
        self.predictor_ = LocallyLinear(
            gate,
            np.zeros((len(anchors), width, n_outputs), dtype=X.dtype),
            np.zeros((len(anchors), n_outputs), dtype=X.dtype),
        )

    @property
    def anchors_(self):
        """Anchors of the fitted gate, shape (n_anchors, n_features)."""
        return self.predictor_.gate.anchors

    @property
    def sharpness_(self):
        """Sharpness of the fitted soft assignment, in the units of the data."""
        return self.predictor_.gate.sharpness
