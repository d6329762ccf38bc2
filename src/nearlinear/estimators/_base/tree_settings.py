"""The parameters of tree estimators, and what "auto" stands for."""

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from ..._warn import warn_user
from ...gates.trees.balanced import count_nodes
from ...gates.trees.node_gates import NODE_GATES, TanhNode
from ...solvers.trees.model import RowScaling
from .capacity import given, usual_epochs
from .constraints import SHARED, at_least, cost, one_of, positive, share
from .old_model import require_memory, row_copies

_WIDE = 100  # features from which a projection pays, and the original schedule wants short rows
_USUAL_COMPONENTS = 32
_ADAM_RATE = 0.1
_MOST_LEVELS = 9
_FEW_ROWS = 20_000  # up to so many, three trees are averaged
_WIDE_EPOCHS = 60  # a projection takes longer to learn
_HUGE = 200_000  # rows with structure enough for splits that take long to find (covertype)


@dataclass(frozen=True)
class TreeSetting:
    """How much a tree may learn: its depth, its penalty, its noise, and the root below it.

    ``depth`` None is the linear model alone; ``deeper`` is added to a depth that depends on the
    rows. ``root_C`` is the linear root's weight of the losses, or None where there is no such root.
    """

    depth: int | str | None
    C: float
    jitter: float
    root_C: float | None
    deeper: int = 0


class TreeSettings:
    """Turns parameters and rows into numbers. A kind of task adds ``_original_rate``."""

    _parameter_constraints = {
        **SHARED,
        "depth": [at_least(0), one_of("auto")],
        "C": [cost(), one_of("auto")],
        "max_iter": [at_least(1), one_of("auto")],
        "n_components": [at_least(1), one_of("auto"), None],
        "node_gate": [one_of(*NODE_GATES)],
        "sigma": [positive()],
        "splits": [one_of("top_down", "random")],
        "solver": [one_of("adam", "sgd")],
        "batch_size": [at_least(1), one_of("auto")],
        "learning_rate": [positive(), one_of("auto")],
        "direction_penalty": [at_least(0, Real)],
        "jitter": [at_least(0, Real), one_of("auto")],
        "first_sharpness": [positive()],
        "last_sharpness": [positive()],
        "hard_fraction": [share()],
        "polish": ["boolean"],
        "n_init": [at_least(1)],
        "n_trees": [at_least(1), one_of("auto")],
        "linear_root": ["boolean", one_of("auto")],
        "validation_fraction": [share()],
        "early_stopping": ["boolean"],
        "n_iter_no_change": [at_least(1)],
    }
    _parameter_constraints.pop("tol")

    def _node_gate(self):
        kind = NODE_GATES[self.node_gate]
        return kind(float(self.sigma)) if kind is TanhNode else kind()

    def _rate(self):
        if self.learning_rate != "auto":
            return self.learning_rate
        return _ADAM_RATE if self.solver == "adam" else self._original_rate

    def _sharpness_range(self):
        first, last = float(self.first_sharpness), float(self.last_sharpness)
        if first > last:
            raise ValueError(
                f"first_sharpness={first:g} is above last_sharpness={last:g}; splits can only "
                "grow sharper."
            )
        return first, last

    def _scaling(self, rows):
        scaling = RowScaling.of(rows.X, rows.weight)
        n_features = rows.X.shape[1]
        if self.solver == "sgd" and n_features >= _WIDE:
            scaling = RowScaling(scaling.center, scaling.scale * np.sqrt(n_features))
        return scaling

    def _usual_setting(self):
        """For a depth that is given, and for streams, in which nothing is held out."""
        wants_root = self.linear_root is True and self._can_have_root()
        usual = TreeSetting(self.depth, *self._usual, 1.0 if wants_root else None)
        return replace(usual, **self._given())

    def _tree_settings(self, root_C, candidates):
        """Simplest first; what the user has set is the same in all."""
        settings = (
            TreeSetting("auto", C, jitter, root_C, deeper) for deeper, C, jitter in candidates
        )
        return list(dict.fromkeys(replace(setting, **self._given()) for setting in settings))

    def _given(self):
        return given(self, "C", "jitter")

    def _finds_capacity(self):
        return self.depth == "auto" and self.linear_root is not False and self._can_have_root()

    def _can_have_root(self):
        return self.node_gate == "tanh" and self.solver == "adam"

    def _epochs(self, rows):
        """As asked, or what is usual."""
        if self.max_iter != "auto":
            return self.max_iter
        if self.solver == "sgd" or rows.X.shape[0] > _HUGE:
            return 100
        return usual_epochs(rows) if self._rank(rows) is None else _WIDE_EPOCHS

    def _tree_count(self, n_rows, setting):
        if setting.depth is None:
            return 1
        if self.n_trees != "auto":
            return self.n_trees
        return 3 if self._finds_capacity() and n_rows <= _FEW_ROWS else 1

    def _depth(self, rows, setting):
        """As asked, or so deep that a leaf has rows enough for its model."""
        n_rows, n_features = rows.X.shape
        if setting.depth is None:
            return 0
        if setting.depth == "auto":
            width = self._rank(rows) or n_features
            depth = int(np.clip(np.log2(n_rows / (50.0 + 2.0 * width)), 1, _MOST_LEVELS))
            return int(np.clip(depth + setting.deeper, 1, _MOST_LEVELS))
        if 2**self.depth > rows.n_distinct:
            warn_user(
                f"depth={self.depth} gives 2**{self.depth} leaves for {rows.n_distinct} distinct "
                "rows; lower depth."
            )
        return self.depth

    def _rank(self, rows):
        """Columns after the projection, or None for none."""
        n_features = rows.X.shape[1]
        if self.n_components == "auto":
            is_wide = n_features >= _WIDE and isinstance(rows.X, np.ndarray)
            return _USUAL_COMPONENTS if is_wide and self.solver == "adam" else None
        if self.n_components is None:
            return None
        if self.solver != "adam":
            raise ValueError("n_components needs solver='adam'; the original has no projection.")
        return min(self.n_components, n_features)

    def _batch_rows(self, n_rows):
        if self.batch_size == "auto":
            return int(np.clip(n_rows // 64, 32, 1024))
        return min(int(self.batch_size), n_rows)

    def _check_memory(self, rows):
        """Before anything is trained: for the deepest tree that may be tried."""
        deepest = TreeSetting("auto", 1.0, 0.0, 1.0, deeper=2)
        finds = self._finds_capacity()
        depth = self._depth(rows, deepest if finds else self._usual_setting())
        n_rows, n_features = rows.X.shape
        n_components = self._rank(rows)
        n_outputs, itemsize = rows.targets.shape[1], rows.X.dtype.itemsize
        width = 1 + (n_features if n_components is None else n_components)
        n_nodes = count_nodes(depth)
        model = n_nodes * width * (2 + n_outputs) + (n_components or 0) * n_features
        chunks = self._batch_rows(n_rows) * n_nodes * (6 + n_outputs)
        is_dense = isinstance(rows.X, np.ndarray)
        data = n_rows * (n_features + 1) * itemsize if is_dense else 2 * rows.X.data.nbytes
        # a search holds some rows out, which copies them all
        need = (12 * model + chunks) * itemsize + (3 if finds else 2) * data
        require_memory(need + row_copies(rows.X), self.max_memory, "lower depth or batch_size")
