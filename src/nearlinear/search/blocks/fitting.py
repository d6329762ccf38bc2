"""``fit`` of a front door to rows in blocks: a survey, a search on a sample, fits to all rows."""

from functools import cache, partial

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_random_state

from ..._compile import one_blas_thread
from ..._config import allowed_memory
from ...estimators._base.checks import memory_reserved
from ...estimators._base.input import fit_rows
from ...estimators._base.outputs import Teller
from ...estimators._base.task import class_factors
from ...streams.checkpoint import Checkpoint
from ...tables.encoder import TableEncoder
from ...tables.in_blocks import SparseEncoding, encoding_of
from ..encoding import is_far, rows_by_number, splitter
from ..fitting import budget_of, contest_for, fit_table, learned_of
from ..portfolio import require_known
from ..search import search
from ..trials import copies_memory, settings_of
from .course import InBlocks
from .growing import Growth, apart, drawn_rows, n_grown
from .keeping import Kept
from .rows import AllRows, Encoded, Sums, spooled
from .sampling import sampled

_FEWEST = 1000  # rows of a sample that can stand for all


def fit_blocks(model, source, checkpoint=None, every=60.0, tell=None):
    """Fit a front door; ``tell(step, figures)`` hears of every step in place of a printer."""
    require_known(model.families)
    path, tell = checkpoint, tell or Teller(model)
    if checkpoint is not None:
        checkpoint = Checkpoint(checkpoint, every)
    seed = None if checkpoint is None else checkpoint.seed
    if seed is None:
        seed = int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
    tell("counting rows, levels and missing cells", {})
    found = sampled(model, source, seed)
    names = getattr(source, "feature_names", None)
    if found.is_whole:
        X, y, weight = found.in_order()
        return _named(fit_table(model, X, y, weight, tell), names)
    tell(f"encoding {found.survey.n_rows:,} rows", {})
    with one_blas_thread():
        encoder, rows, spool, sample, Z = _encoded(model, found, seed)
        del found
        try:
            learned, of_rows = _searched(
                model, encoder, rows, sample, Z, seed, checkpoint, path, every, tell
            )
        finally:
            if spool is not None:
                spool.close()
    return _named(model._settle(learned, rows.n_rows, of_rows), names)


def _encoded(model, found, seed):
    """The encoder, all rows behind it, the files they are in or None, a sample and its rows."""
    answers, classes = found.columns.answers, None
    labels = factors = None
    if answers.is_of_classes:
        classes = answers.classes
        labels = {label: place for place, label in enumerate(classes.tolist())}
        if model.class_weight is not None:
            mass = np.array([found.masses[label] for label in classes.tolist()])
            factors = class_factors(model.class_weight, classes, mass)
    encoding = _encoding(model, found)
    first = found.survey.sample.take(np.arange(1)).X
    first = first if encoding.encoder is None else encoding.encoder.transform(first)
    size = found.size_for(first.shape[1])
    if size < min(_FEWEST, found.survey.n_rows):
        raise MemoryError(
            f"The memory limit allows for {size:,} encoded rows of {first.shape[1]} columns, too "
            "few to search on: raise it with nearlinear.set_config(max_memory=...), or leave "
            "columns out."
        )
    sample = found.sample(size)
    dtype = np.float64 if is_far(model, sample.rows.y) else np.float32
    starts, survey = found.survey.part_starts, found.survey
    rows = Encoded(found.parted, encoding.encode, labels, factors, starts, dtype)
    spool, is_sparse = None, issparse(first)
    if is_sparse or model.encoder is None:
        Z, sums = encoding.encode(sample.rows.X, 0).astype(dtype), Sums()
        for block in rows:
            sums.add(block.y, block.weight)
    else:
        spool, sums = spooled(rows, encoding, dtype, answers.is_of_classes, found.block_rows)
        rows, starts, Z = spool, spool.part_starts, spool.rows(sample.numbers)
    if sums.n_rows != survey.n_rows:
        raise ValueError(
            f"The source gave {sums.n_rows} rows now and {survey.n_rows} before: it must yield "
            "the same rows each time."
        )
    everything = AllRows(
        rows, survey.n_rows, starts, Z.shape[1], None if classes is None else len(classes),
        sums.weight, sums.low == sums.high, sums.mean, sums.spread, found.block_rows, seed,
    )  # fmt: skip
    return encoding.encoder, everything, spool, sample, Z


def _encoding(model, found):
    if isinstance(model.encoder, str | TableEncoder):
        encoder = model.encoder
        if isinstance(encoder, str):
            kind = "classes" if isinstance(model, ClassifierMixin) else "values"
            encoder = TableEncoder(target_type=kind)
        return encoding_of(clone(encoder), found.columns, found.survey.sample)
    if model.encoder is None:
        return _AsTheyAre()
    sample = found.survey.sample
    return SparseEncoding(clone(model.encoder).fit(sample.X, sample.y))


class _AsTheyAre:
    """Rows of numbers that nothing is done to."""

    encoder = None

    def encode(self, X, row):
        X = X if issparse(X) else np.asarray(X)
        values = X.data if issparse(X) else X
        if not np.all(np.isfinite(values)):
            raise ValueError("X holds NaN: take encoder='auto', or fill in what is missing.")
        return X


def _searched(model, encoder, rows, sample, Z, seed, checkpoint, path, every, tell):
    X, y, weight = sample.rows
    n_reserved = max(copies_memory(Z), 0.5 * allowed_memory())  # for blocks and the sample
    some = fit_rows(model, Z, y, weight)
    split, rng = splitter(encoder, X, y, Z), np.random.RandomState(seed)
    contest = contest_for(model, some, y, weight, split, rng)
    if split is None:
        places = some.X
    else:
        places = Z[rows_by_number(model, y, weight, Z.dtype).X[:, 0].astype(np.intp)]
    budget, n_more = budget_of(model), n_grown(rows, len(y), Z.itemsize)
    growth = Growth(
        n_more, len(y), cache(partial(drawn_rows, model, rows, sample, n_more)), budget
    )  # fmt: skip
    kept = Kept(model, y, Z, rows.n_rows, n_more, seed, checkpoint)
    course = InBlocks(
        rows, len(y), places.__getitem__, cache(partial(apart, model, rows, sample, Z)), growth,
        kept, seed, model.n_jobs, path, every,
    )  # fmt: skip
    with memory_reserved(n_reserved):
        found, tried, left = search(model, some, contest, budget, rng, tell, course)
    learned = learned_of(found, found.blend, _with_rows(tried, found, len(y)), left)
    learned.attributes["encoder_"] = encoder
    of_rows = {**some.attributes}
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(encoder, name):
            of_rows[name] = getattr(encoder, name)
    return learned, of_rows


def _with_rows(tried, found, n_sample):
    """Records of trials that say what the rows were."""
    of_all = {(one.candidate.family, str(settings_of(one.candidate))): one.fitted_to
              for one in found.members}  # fmt: skip
    sample = f"a sample of {n_sample:,} rows"
    return [
        {**one, "fitted_to": of_all.get((one["model"], str(one["settings"])), sample)}
        for one in tried
    ]


def _named(model, names):
    """A fitted model whose columns have the names that a source of arrays knows."""
    first = model if model.encoder_ is None else model.encoder_
    if names is not None and not hasattr(first, "feature_names_in_"):
        first.feature_names_in_ = model.feature_names_in_ = np.asarray(names, dtype=object)
    return model
