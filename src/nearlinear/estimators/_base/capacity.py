"""How much capacity the rows bear: several settings are tried on rows held out for that."""

from dataclasses import dataclass

import numpy as np

_MOST_ROWS, _FEWEST_ROWS, _MOST_NUMBERS = 10_000, 1_000, 2_000_000
_ROW_VISITS, _EPOCHS = 900_000, (15, 40)
# In standard errors: how far a simpler setting may be behind, and from where on it is given up.
TOLERANCE, HOPELESS = 0.5, 3.0


@dataclass(frozen=True)
class Verdict:
    """One setting that was tried, and its mean loss on held-out rows."""

    setting: object
    loss: float


def are_many(rows):
    """Whether there are rows enough for a full model, and too many for a search among others.

    A sample stands for many.
    """
    n_rows, n_features = rows.X.shape
    is_much = n_rows > _MOST_ROWS or n_rows * n_features > _MOST_NUMBERS
    return is_much or rows.n_all is not None


def searched_rows(rows, rng):
    """The rows that settings are judged on: a sample of many."""
    n_rows, n_features = rows.X.shape
    most = int(np.clip(_MOST_NUMBERS // n_features, _FEWEST_ROWS, _MOST_ROWS))
    if n_rows <= most:
        return rows
    return rows.take(np.sort(rng.permutation(n_rows)[:most]))


def usual_epochs(rows):
    """Fewer for more rows, so that each is seen often enough."""
    return int(np.clip(_ROW_VISITS // rows.n_rows, *_EPOCHS))


def given(estimator, *names):
    """Parameters that the user has set; "auto" leaves one to be found."""
    values = {name: getattr(estimator, name) for name in names}
    return {name: value for name, value in values.items() if value != "auto"}


def errors(scores, targets):
    """1 for each row that is answered wrongly, by its sign or by its highest score, else 0."""
    if scores.shape[1] == 1:
        return np.asarray((scores[:, 0] > 0) != (targets[:, 0] > 0), dtype=np.float64)
    return np.asarray(scores.argmax(axis=1) != targets.argmax(axis=1), dtype=np.float64)


def judge(found, weight):
    """A verdict on each setting; ``found`` has pairs of a setting and losses of held-out rows."""
    return [Verdict(one, float(np.average(losses, weights=weight))) for one, losses in found]


def tell_verdicts(tell, verdicts):
    for verdict in verdicts:
        tell(f"setting {verdict.setting}", {"held-out loss": verdict.loss})


def choose_setting(rows, settings, losses, rng):
    """The simplest setting whose held-out loss is about the lowest, and the list of verdicts.

    ``settings`` come simplest first. ``losses(train, held_out, setting, seed)`` trains on the first
    rows and gives the loss of each of the others. "About" is within half a standard error of the
    difference. Up to 2,000 rows are judged on three parts of a fifth each, up to 5,000 on two, more
    on one. Without a part that leaves rows of every class to train on, the simplest setting is
    taken.
    """
    if len(settings) == 1:
        return settings[0], []
    parts = _parts(rows, rng)
    if not parts:
        return settings[0], []
    found = {setting: np.empty(0) for setting in settings}
    weight, running = np.empty(0), settings
    for part in parts:
        train, held_out = rows.take(_others(rows, part)), rows.take(part)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        for setting in running:
            values = losses(train, held_out, setting, seed)
            found[setting] = np.concatenate([found[setting], values])
        weight = np.concatenate([weight, held_out.weight])
        running = [one for one in running if np.isfinite(found[one]).all()]
        if not running:
            return settings[0], []
        best = min(running, key=lambda one: np.average(found[one], weights=weight))
        behind = {one: standard_errors(found[one] - found[best], weight) for one in running}
        # what is far behind on the first part need not be tried on the others
        running = [one for one in running if behind[one] < HOPELESS]
    chosen = next(one for one in running if behind[one] <= TOLERANCE)
    tried = [
        Verdict(one, float(np.average(found[one], weights=weight[: len(found[one])])))
        for one in settings
    ]
    return chosen, tried


def _parts(rows, rng):
    """Disjoint parts with each class in its proportion, whose complements have every class.

    The only row of a class is in none.
    """
    n_rows = rows.X.shape[0]
    order = rng.permutation(n_rows)
    order = order[np.argsort(rows.labels[order], kind="stable")]
    order = order[np.bincount(rows.labels)[rows.labels[order]] > 1]
    n_parts = 3 if n_rows <= 2000 else 2 if n_rows <= 5000 else 1
    parts = [np.sort(order[number::5]) for number in range(n_parts)]
    n_classes = len(np.unique(rows.labels))
    return [
        part for part in parts
        if len(part) and len(np.unique(rows.labels[_others(rows, part)])) == n_classes
    ]  # fmt: skip


def _others(rows, part):
    return np.setdiff1d(np.arange(rows.X.shape[0]), part)


def about_best(losses, weight, tolerance=TOLERANCE):
    """The first setting that is about as good as the best; ``losses`` are by setting and row.

    That is one behind by at most ``tolerance`` standard errors of the difference.
    """
    best = min(losses, key=lambda one: np.average(losses[one], weights=weight))
    for one, found in losses.items():
        with np.errstate(invalid="ignore"):
            behind = found - losses[best]
        is_finite = np.isfinite(behind).all()
        if one == best or (is_finite and standard_errors(behind, weight) <= tolerance):
            return one
    return best


def standard_errors(differences, weight):
    """The weighted mean of the differences in units of its standard error."""
    mean = np.average(differences, weights=weight)
    error = np.sqrt(np.sum((weight * (differences - mean)) ** 2)) / weight.sum()
    return mean / error if error > 0 else np.inf * mean if mean else 0.0
