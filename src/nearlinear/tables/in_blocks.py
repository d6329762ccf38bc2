"""A ``TableEncoder`` fitted to blocks of rows: the same object as from a whole table.

The parts are fitted to a sample, and then made to know all rows: which levels there are and how
often, means of y by level, and last, in a second pass, means and spreads of what the parts make.
Medians and other quantiles are those of the sample.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from ..streams.blocks import Parted
from .assembly import TARGET
from .levels import N_FOLDS, folds_of, overall_means
from .survey import survey_of
from .target import Target, holds_values

_ONE_HOT = "one_hot"
SAMPLE_ROWS = 100_000


@dataclass
class BlockEncoding:
    """An encoder that has still to see what becomes of all rows: ``encode`` these, then ``settle``.

    ``others`` are means of y without the rows of each fold, which encode these in training.
    """

    encoder: object
    seed: int
    others: list
    moments: StandardScaler = field(default_factory=StandardScaler)

    def encode(self, X, row):
        """Rows as numbers; those of many levels by means of y over the rows of other folds."""
        encoder = self.encoder
        table = encoder._read(X)
        Z = encoder._encoded(table)
        if self.others:
            parts = {name: (part[-1], places) for name, part, places in _parts(encoder)}
            scaler, places = parts[TARGET]
            cells, folds = table[:, places], folds_of(row, len(Z), self.seed)
            for fold in np.unique(folds):
                mine = folds == fold
                means = scaler.transform(self.others[fold].transform(cells[mine]))
                Z[mine, encoder.transformer_.output_indices_[TARGET]] = means
        self.moments.partial_fit(Z)
        return Z

    def settle(self):
        """Scale by means and spreads of all rows; (shift, scale) that encoded rows have to get."""
        width = self.moments.n_features_in_
        shift, scale = np.zeros(width), np.ones(width)
        for name, part, _ in _parts(self.encoder):
            scaler, own = part[-1], self.encoder.transformer_.output_indices_[name]
            if not isinstance(scaler, StandardScaler):
                continue
            shift[own] = self.moments.mean_[own]
            before = 1.0 if scaler.scale_ is None else scaler.scale_
            scaler.mean_ = scaler.mean_ + before * shift[own]
            if scaler.with_std:
                scale[own] = self.moments.scale_[own]
                scaler.scale_ = scaler.scale_ * scale[own]
                scaler.var_ = scaler.scale_**2
            scaler.n_samples_seen_ = self.moments.n_samples_seen_
        return shift, scale


@dataclass
class SparseEncoding:
    """The same of CSR rows, whose encoder knows all there is."""

    encoder: object

    def encode(self, X, row):
        return self.encoder.transform(X)

    def settle(self):
        return None


def fit_to_blocks(encoder, source):
    """``fit`` of an encoder from blocks (X, y): one pass of counts, one of means and spreads."""
    parted = Parted(source)
    first = next(block for part in range(parted.n_parts) for block in parted.part(part))
    if encoder.target_type == "auto":
        is_of_classes = not holds_values(np.asarray(first.y))
    else:
        is_of_classes = encoder.target_type == "classes"
    seed = int(check_random_state(encoder.random_state).randint(2**31 - 1))
    survey = survey_of(first, is_of_classes, seed)
    found = survey.run(parted, lambda block: SAMPLE_ROWS)
    encoding, row = encoding_of(encoder, survey, found.sample), 0
    if not survey.is_sparse:
        for part in range(parted.n_parts):
            for block in parted.part(part):
                encoding.encode(block.X, row)
                row += block.X.shape[0]
        encoding.settle()
    return encoder


def encoding_of(encoder, survey, sample):
    """What encodes all rows of a survey, of which some are its sample."""
    if survey.is_sparse:
        encoder._made_sparse(csr_matrix(survey.largest[None]))
        return SparseEncoding(encoder)
    table, y, columns = survey.seen(sample)
    answers, kind = survey.answers, "continuous"
    if answers.is_of_classes:
        kind = "binary" if len(answers.labels) <= 2 else "multiclass"
    target, n_rows = Target(y, kind), survey.n_rows
    encoder._fit_plan(encoder._plan_columns(table, columns, target, n_rows, len(sample.y)))
    others = []
    for name, part, places in _parts(encoder):
        if name not in (_ONE_HOT, TARGET):
            continue
        known = [columns[place] for place in places]
        if name == TARGET:
            levels = [survey.columns[place].levels for place in places]
            others = [_with_means(part[0], known, levels, answers, k) for k in range(N_FOLDS)]
            means = _with_means(part[0], known, levels, answers, None)
            part.steps[0] = part.steps[0][0], means
        else:
            part.steps[0] = part.steps[0][0], _with_levels(part[0], known)
        part[-1].fit(part[:-1].transform(table[:, places]))
    _note_widths(encoder.transformer_, table)
    encoder._note_columns(table.shape[1], table.names)
    return BlockEncoding(encoder, survey.seed, others)


def _parts(encoder):
    """(name, fitted part, places of its columns)."""
    for name, part, places in encoder.transformer_.transformers_:
        if name != "remainder":
            yield name, part, places


def _with_levels(part, columns):
    """scikit-learn's one-hot encoder of all levels, which are frequent if they are in all rows.

    It is fitted to each frequent level twice and to each other one once.
    """
    most = part.min_frequency
    rows = []
    for seen in columns:
        counts = {**seen.counts, np.nan: seen.n_missing}
        often = [level for level, count in counts.items() if count >= most]
        listed = [level for level, count in counts.items() if count]
        # the most frequent first, which is what fills up
        rows.append(sorted(often, key=counts.get, reverse=True) + listed)
    found = clone(part).set_params(min_frequency=2).fit(_filled(rows, columns))
    return found.set_params(min_frequency=most)


def _with_means(part, columns, levels, answers, left_out):
    """scikit-learn's TargetEncoder with means of y over all rows but those of a fold."""
    rows = [[*seen.counts, *([np.nan] if seen.n_missing else [])] for seen in columns]
    classes = answers.classes if answers.is_of_classes else np.arange(2.0)
    cells = _filled(rows, columns, len(classes))
    found = clone(part).fit(cells, np.resize(classes, len(cells)))
    found.encodings_ = [
        means
        for categories, own in zip(found.categories_, levels, strict=True)
        for means in own.means(categories, answers, left_out)
    ]
    means = overall_means(answers, left_out)
    found.target_mean_ = means if len(means) > 1 else means[0]
    return found


def _filled(columns, seen, at_least=1):
    """Columns of unlike lengths as one block; the first cell of each fills it up."""
    size = max(at_least, *map(len, columns))
    are_numbers = all(one.cells.dtype.kind == "f" for one in seen)
    block = np.empty((size, len(columns)), dtype=np.float64 if are_numbers else object)
    for place, cells in enumerate(columns):
        block[:, place] = [*cells, *cells[:1] * (size - len(cells))]
    return block


def _note_widths(transformer, table):
    """Where the numbers of each part are, which have become more or fewer."""
    found, first = {}, 0
    for name, part, places in transformer.transformers_:
        width = 0 if name == "remainder" else part.transform(table[:1, places]).shape[1]
        found[name] = slice(first, first + width) if width else slice(0, 0)
        first += width
    transformer.output_indices_ = found
