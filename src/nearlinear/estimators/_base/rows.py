"""Training rows in one canonical form, so that every fit sees the same problem.

Equal rows of equal class are merged and their weights added, rows of weight zero are dropped, and
rows are put in an order that depends on their content alone. So a weight of k means k copies,
and neither the order of the rows nor duplicates among them change the model.
"""

import os
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import issparse

_SECRET = int.from_bytes(os.urandom(4), "little")


@dataclass(frozen=True)
class TrainingRows:
    """Distinct weighted rows; ``targets`` is ±1 with one column, or one column per class.

    ``names`` is what the rows say of their columns, as attributes of a fitted model. The last
    ``n_gating`` columns are those that only a gate sees. ``n_all`` is how many rows these are a
    sample of, or None where they are all. ``found`` is what was worked out of these very rows, for
    all who ask again.
    """

    X: np.ndarray
    labels: np.ndarray
    targets: np.ndarray
    weight: np.ndarray
    n_distinct: int
    task: object = None
    names: dict = field(default_factory=dict)
    n_gating: int = 0
    n_all: int | None = None
    found: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, key, work):
        """``work()``, and the same again for the same key."""
        if key not in self.found:
            self.found[key] = work()
        return self.found[key]

    @property
    def n_rows(self):
        """How many rows a model is fitted to."""
        return self.X.shape[0] if self.n_all is None else self.n_all

    @property
    def attributes(self):
        """What the rows alone say of a model that is fitted to them."""
        return {**self.names, **self.task.attributes}

    @property
    def n_features(self):
        """Columns that a user calls features."""
        return self.X.shape[1] - self.n_gating

    def split(self, fraction, rng):
        """Random parts (training, held out); the second is None if it would be tiny."""
        n_rows = self.X.shape[0]
        n_held = round(fraction * n_rows)
        if n_held < 10:
            return self, None
        order = rng.permutation(n_rows)
        held, kept = order[:n_held], np.sort(order[n_held:])
        if len(np.unique(self.labels[kept])) < len(np.unique(self.labels)):
            return self, None
        return self.take(kept), self.take(held)

    def take(self, rows):
        return replace(
            self, X=self.X[rows], labels=self.labels[rows], targets=self.targets[rows],
            weight=self.weight[rows], n_distinct=min(self.n_distinct, len(rows)),
        )  # fmt: skip

    def merged(self, numbers=None):
        """The canonical form; ``numbers`` tells targets apart where the labels do not."""
        if self.X.ndim == 3:  # similarities to rows in their given order: neither merged nor moved
            return self
        numbers, rows = self.labels if numbers is None else numbers, self
        if not np.all(self.weight > 0):
            kept = np.flatnonzero(self.weight > 0)
            numbers, rows = numbers[kept], self.take(kept)
        order, ids = canonical_order(rows.X, numbers)
        ids, numbers, weight = ids[order], numbers[order], rows.weight[order]
        is_new_row = np.r_[True, ids[1:] != ids[:-1]]
        first = np.flatnonzero(is_new_row | np.r_[True, numbers[1:] != numbers[:-1]])
        found = rows.take(order[first])
        total = np.add.reduceat(weight.astype(np.float64), first)
        return replace(found, weight=total, n_distinct=int(np.count_nonzero(is_new_row)))


def copies_of(rows, most):
    """How often each merged row was there, as far as that can be told, ``most`` at most.

    Copies are known by weights that are whole multiples of the smallest one of their class.
    """
    least = np.full(rows.labels.max() + 1, np.inf)
    np.minimum.at(least, rows.labels, rows.weight)
    times = rows.weight / least[rows.labels]
    if not np.allclose(times, np.rint(times), rtol=1e-9):
        return np.ones(len(times), dtype=np.intp)
    return np.minimum(np.rint(times), most).astype(np.intp)


def canonical_order(X, labels):
    """An order of rows that depends on their content alone, and a number for each distinct row.

    The order comes from hashes that are the same in every process, so that fits repeat to the bit.
    Somebody who knows them can make two rows of the same hash; a second hash, which is another one
    in every process, tells such rows apart.
    """
    row_hash = _hash_rows(X, 0)
    first = np.argsort(row_hash, kind="stable")
    is_twin = np.r_[False, row_hash[first][1:] == row_hash[first][:-1]]
    secret = np.zeros(len(row_hash), dtype=np.uint64)
    if is_twin.any():
        twins = first[is_twin | np.r_[is_twin[1:], False]]
        secret[twins] = _hash_rows(X[twins], _SECRET)
    order = np.lexsort((labels, secret, row_hash))
    starts = (np.diff(row_hash[order]) != 0) | (np.diff(secret[order]) != 0)
    numbers = np.empty(len(order), dtype=np.intp)
    numbers[order] = np.cumsum(np.r_[0, starts])
    return order, numbers


def content_ids(X, y, salt):
    """Whole numbers, the same for rows of the same content and target; ``salt`` is a stream's."""
    seed = int(salt) % 2**32
    return _hash_rows(np.column_stack([X, y]).astype(np.float64), seed).view(np.int64)


def _hash_rows(X, seed):
    """64-bit hash of each row's bits; two different rows of a data set collide once in 10⁹ sets.

    Integer arithmetic modulo 2⁶⁴ is exact in any order, so equal rows always hash alike.
    """
    n_rows, n_features = X.shape
    bits = np.uint64 if X.dtype == np.float64 else np.uint32
    factors = np.random.RandomState(seed).randint(
        1, np.iinfo(np.int64).max, size=n_features, dtype=np.int64
    ).astype(np.uint64) | np.uint64(1)
    total = np.zeros(n_rows, dtype=np.uint64)
    if issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        terms = _mix(X.data.view(bits).astype(np.uint64)) * factors[X.indices]
        filled = np.diff(X.indptr) > 0
        total[filled] = np.add.reduceat(terms, X.indptr[:-1][filled]) if len(terms) else 0
        return total
    block = max(1, (1 << 20) // max(1, n_features))
    for start in range(0, n_rows, block):
        # adding zero turns −0 into 0
        part = np.ascontiguousarray(X[start : start + block] + X.dtype.type(0))
        terms = _mix(part.view(bits).astype(np.uint64)) * factors
        total[start : start + block] = terms.sum(axis=1, dtype=np.uint64)
    return total


def _mix(bits):
    """Spread the bits of floats, most of which end in zeros, over the word."""
    bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))
