"""The search itself: from encoded rows to a blend of fitted models, and all that nothing beats."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.base import clone

from .._compile import compile_seconds
from .._warn import warn_user
from ..estimators._base.outputs import keeping
from ..predictors.averaged import Averaged
from ..runtime.outcome import LogLoss
from .averaging import Blend, best_blend
from .budgets import MAX_TIMED_ROWS, Clock, Price, measured_single_us, measured_us
from .candidates import Shape
from .fits.forecasts import Pace
from .found import ALL_ROWS, Found, Member
from .front import front
from .portfolio import LINEAR, SLOW, portfolio
from .speed import machine_speed
from .trials import HERE, Trials, settings_of, without_hints

_TIMED_ROWS, _MIN_TIMED_ROWS, _TIMED_US = 2048, 64, 5e4
_KEPT = "the best model so far is"
_PARTS = (0.2, 0.05)  # of a budget, for which blends are fitted, too


@dataclass(frozen=True)
class OfAllRows:
    """How a search runs that has all training rows in memory; ``fitted_to`` describes these."""

    fitted_to: str = ALL_ROWS

    def race(self, trials):
        trials.run()

    def fit(self, place, judged, blend, fit, clock):
        """The predictor of a candidate, and words about the rows that it was fitted to."""
        return fit(), self.fitted_to


def search(model, rows, contest, budget, rng, tell, course=None, at=HERE, clock=None):
    """A ``Found``, the records of all trials, and what Ctrl-C has kept or None.

    Candidates that the budget bears are tried on held-out rows. Of those that came to the end, the
    best average is chosen. Its members, the linear model and all that nothing beats are fitted to
    all rows and timed, and the average is chosen anew if it is slower than forecast. ``course``
    says how trials are run and members fitted where the rows are a sample of more; ``at`` is the
    ``Place`` of all fits. ``clock`` has been started before, or starts now.
    """
    course = course or OfAllRows()
    clock = clock or Clock(model.time_limit)
    shape = Shape(*rows.X.shape, rows.targets.shape[1], hasattr(rows.task, "classes"))
    speed = machine_speed(is_needed=budget.us is not None or budget.single_us is not None)
    candidates = _affordable(model, rows, shape, contest, budget, speed)

    def us_of(family, cost):
        return speed.price(family, cost, shape.n_outputs).us

    pace = Pace(shape, rows.X.nnz / shape.n_rows if hasattr(rows.X, "nnz") else None)
    trials = Trials(contest, candidates, rng, clock, model.n_jobs, tell, us_of, pace, at)
    with keeping(_KEPT) as early, without_hints():
        course.race(trials)
    if early.kept and not trials.trials_of(LINEAR).scores:
        raise KeyboardInterrupt  # there is nothing yet to keep
    if not early.kept:
        _tell_untried(trials, model.families or ())
    judged = _judged(trials, speed, shape)
    blend = _blend_in_time(judged, budget, trials)
    members = {}
    with keeping(_KEPT) as late, without_hints():
        found = _fitted(model, judged, blend, budget, rows, trials, course)
        for place, member in found:
            members[place] = member  # one by one: Ctrl-C keeps those that are done
    if not members:
        raise KeyboardInterrupt
    found = _found(judged, members, blend, budget)
    if clock.limit is not None:  # more members than those of the blend may have been fitted
        found = replace(found, blend=found.within(budget) or found.blend)
    return found, _all_trials(trials), early.kept or late.kept


def _affordable(model, rows, shape, contest, budget, speed):
    """Candidates inside the budget by what they will cost; the linear model is always there."""
    is_sparse, has_time = hasattr(rows.X, "toarray"), model.time_limit is not None
    found = portfolio(shape, is_sparse, not budget.is_open, has_time, model.families)
    found = contest.with_twins(found)

    def is_affordable(one):
        return budget.holds([speed.price(one.family, one.cost(shape), shape.n_outputs)])

    return [one for one in found if one == LINEAR or is_affordable(one)]


def _tell_untried(trials, named):
    """Families of which the clock has let none begin; slow ones are an extra unless named."""
    begun = {one.candidate.family for one in trials.trials if one.scores or one.failure}
    known = dict.fromkeys(one.candidate.family for one in trials.trials)
    left = [name for name in known if name not in begun and (name in named or name not in SLOW)]
    if left:
        warn_user(
            f"{trials.clock.limit:.3g} s for the search were too few to try {', '.join(left)}: "
            "allow more time, or name fewer families."
        )


@dataclass(frozen=True)
class Judged:
    """Trials that came to the end: answers to held-out rows, calibrations and forecast prices."""

    trials: list
    judge: object
    held: np.ndarray
    answers: list
    calibrations: list
    prices: list
    linear: int

    def best(self, budget, excluded=()):
        """The best blend inside a budget; raises ValueError if there is none."""
        blend = best_blend(self.answers, self.judge, self.prices, budget, self.linear, excluded)
        if blend is None:
            cheapest = min(self.prices, key=lambda price: price.us)
            raise ValueError(
                f"No model costs at most {budget}: the cheapest takes "
                f"{cheapest.times_linear:.3g} × linear, {cheapest.us:.2g} µs a row and "
                f"{cheapest.n_bytes} bytes; allow more."
            )
        return blend

    def worth_a_fit(self, blend, budget):
        """Places of the linear model, which is the first, of a blend, and of the front.

        Those of the best blends inside parts of the budget come last: ``select`` takes them.
        """
        losses = [self.judge.mean(one) for one in self.answers]
        points = [(price.us, loss) for price, loss in zip(self.prices, losses, strict=True)]
        found = dict.fromkeys((self.linear, *blend.places, *front(points)))
        for share in () if budget.is_open else _PARTS:
            part = best_blend(
                self.answers, self.judge, self.prices, budget.part(share), self.linear
            )
            found |= dict.fromkeys(() if part is None else part.places)
        return list(found)


def _judged(trials, speed, shape):
    finished, counted = trials.finished()
    judge, kept = trials.contest.judge_of(counted), [trial for trial, _ in finished]
    told = [judge.answers(trial.candidate, scores) for trial, scores in finished]
    return Judged(
        kept, judge, np.concatenate([one.held for one in counted]),
        [answers for answers, _ in told], [calibration for _, calibration in told],
        [speed.price(one.candidate.family, one.cost, shape.n_outputs) for one in kept],
        next(place for place, trial in enumerate(kept) if trial.candidate == LINEAR),
    )  # fmt: skip


def _blend_in_time(judged, budget, trials):
    """The best blend whose members can be refitted in time, or the linear model alone."""
    blend, excluded, clock = judged.best(budget), set(), trials.clock
    if clock.limit is None:
        return blend
    while True:
        places = {judged.linear, *blend.places}
        candidates = {place: judged.trials[place].candidate for place in places}
        others = places - {judged.linear}
        if not others or trials.seconds_to_refit(candidates.values()) <= clock.left_with_grace:
            return blend
        excluded.add(max(others, key=lambda place: trials.pace.seconds(candidates[place])))
        try:
            blend = judged.best(budget, excluded)
        except ValueError:  # nothing else is inside the budget
            return blend


def _fitted(model, judged, blend, budget, rows, trials, course):
    """Members by place, one after the other; of those that the blend does not need, what there is
    time for."""
    at, clock, tell = trials.at, trials.clock, trials.tell
    shared, seed = at.share(rows), int(trials.seeds[-1])
    started = [
        (place, at.start(judged.trials[place].candidate.fit, shared, seed, trials.n_jobs))
        for place in judged.worth_a_fit(blend, budget)
    ]
    for place, fit in started:
        trial, calibration = judged.trials[place], judged.calibrations[place]
        is_needed = place in (judged.linear, *blend.places)
        if not is_needed and trials.seconds_to_refit([trial.candidate]) > clock.left:
            continue
        compiled = compile_seconds()
        done = trial.attempt(partial(course.fit, place, judged, blend, fit, clock), tell)
        if done is None:
            continue
        predictor, fitted_to = done
        price = _measured(model, predictor, calibration, rows, judged.prices[place])
        trial.compile_seconds += compile_seconds() - compiled
        yield (
            place,
            Member(
                trial.candidate, predictor, calibration, judged.answers[place], price,
                trial.seconds, fitted_to,
            ),
        )  # fmt: skip
        tell(f"fitted {trial.candidate.family} to {fitted_to}", {"µs a row": price.us})


def _found(judged, members, blend, budget):
    """The blend that was chosen, or another: Ctrl-C left a member out, it failed, or is slow."""
    places, fitted = list(members), tuple(members.values())
    line = Blend.alone(places.index(judged.linear))
    found = Found(fitted, judged.judge, line, *line.places, judged.held)
    is_whole = all(place in members for place in blend.places)
    if is_whole:
        blend = replace(blend, places=tuple(places.index(place) for place in blend.places))
        found = replace(found, blend=blend)
        if budget.holds([found.price(blend)]):
            return found
    found = replace(found, blend=found.within(budget) or found.blend)
    price = found.price(found.blend)
    if not budget.holds([price]):
        warn_user(
            f"No model that was fitted keeps to {budget}: this one takes {price.us:.2g} µs a row, "
            f"{price.single_us:.2g} µs for one row, {price.times_linear:.3g} × linear."
        )
    return found


def _measured(model, predictor, calibration, rows, forecast):
    """The price of a fitted predictor; its time is that of ``predict``, as users call it."""
    X, cost = rows.X[:MAX_TIMED_ROWS].astype(predictor.dtype), predictor.cost
    n_rows = int(np.clip(_TIMED_US / max(forecast.us, 1e-3), _MIN_TIMED_ROWS, _TIMED_ROWS))
    us = measured_us(_with_predictor(model, rows, predictor).predict, X, min_rows=n_rows)
    single_us, averaging_us = forecast.single_us, 0.0
    if calibration is not None:
        alone = Averaged((predictor,), (1.0,), (calibration,))
        with_averaging = _with_predictor(model, rows, alone).predict
        averaging_us = max(0.0, measured_us(with_averaging, X, min_rows=n_rows) - us)
        if not isinstance(calibration, LogLoss):  # which it is part of then, alone or not
            us, averaging_us = us + averaging_us, 0.0
    if not hasattr(X, "toarray"):  # compile() takes dense rows
        single_us = measured_single_us(predictor, X[0])
    return Price(cost.times_linear, us, single_us, cost.n_bytes, averaging_us)


def _with_predictor(model, rows, predictor):
    """A fitted model of encoded rows that predicts with ``predictor`` in one thread."""
    fitted = clone(model).set_params(encoder=None, n_jobs=1)
    vars(fitted).update(rows.attributes, encoder_=None, predictor_=predictor)
    fitted.n_features_in_ = predictor.n_features
    vars(fitted).pop("feature_names_in_", None)
    return fitted


def _all_trials(trials):
    return [
        {
            "model": trial.candidate.family, "settings": settings_of(trial.candidate),
            "rounds": len(trial.scores), "fit_seconds": trial.seconds,
            "compile_seconds": trial.compile_seconds, "failure": trial.failure,
        }
        for trial in trials.trials
    ]  # fmt: skip
