"""The search itself: from encoded rows to a blend of fitted models, and all that nothing beats."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state

from .._warn import warn_user
from ..estimators._base.outputs import keeping
from ..predictors.averaged import Averaged
from ..runtime.outcome import LogLoss
from .averaging import Blend, greedy, guarded, mean_and_error
from .budgets import Clock, Price, measured_single_us, measured_us
from .candidates import Shape
from .judging import ClassJudge, ValueJudge
from .portfolio import LINEAR, portfolio
from .speed import machine_speed
from .trials import Trials, settings_of

_TIMED_ROWS = 2048


@dataclass(frozen=True)
class Member:
    """A candidate fitted to all rows, with what held-out rows said of it."""

    candidate: object
    predictor: object
    calibration: object
    answers: np.ndarray
    price: Price
    seconds: float


@dataclass(frozen=True)
class Found:
    """What a search leaves behind: members, how they are judged, and the blend that was chosen."""

    members: tuple
    judge: object
    blend: Blend
    linear: int
    held: np.ndarray

    def within(self, budget):
        """The best blend inside a budget, without another fit."""
        answers, prices = self.answers, [member.price for member in self.members]
        blend = greedy(answers, self.judge, prices, budget)
        if blend is not None and budget.holds([prices[self.linear]]):
            blend = guarded(blend, self.linear, answers, self.judge)
        return blend

    @property
    def answers(self):
        return [member.answers for member in self.members]

    def predictor(self, blend):
        """One predictor, whose scores are logarithms of odds, or values."""
        chosen = [self.members[place] for place in blend.places]
        if len(chosen) == 1 and isinstance(chosen[0].calibration, LogLoss | None):
            return chosen[0].predictor
        calibrations = tuple(member.calibration for member in chosen)
        return Averaged(
            tuple(member.predictor for member in chosen), blend.weights,
            () if None in calibrations else calibrations,
        )  # fmt: skip

    def price(self, blend):
        return Price.total([self.members[place].price for place in blend.places])

    def points(self, chosen):
        """A record of every member and of the blends, and which of them nothing dominates."""
        blends = [Blend((place,), (1.0,)) for place in range(len(self.members))]
        blends += [blend for blend in dict.fromkeys((self.blend, chosen)) if blend not in blends]
        found = [{**self._record(blend), "is_chosen": blend == chosen} for blend in blends]
        for one in found:
            one["on_front"] = not any(_dominates(other, one) for other in found)
        return found

    def _record(self, blend):
        answers = blend.answers(self.answers)
        judge = self.judge
        loss, error = mean_and_error(judge.losses(answers), judge.weight, judge.copies)
        score, score_error = judge.score(answers)
        price, chosen = self.price(blend), [self.members[place] for place in blend.places]
        families = [member.candidate.family for member in chosen]
        return {
            "model": " + ".join(families),
            "settings": [settings_of(member.candidate) for member in chosen],
            "weights": list(blend.weights), "criterion": judge.mean(answers), "loss": loss,
            "loss_error": error,
            "score": score, "score_error": score_error, "times_linear": price.times_linear,
            "us_per_row": price.us, "single_row_us": price.single_us, "n_bytes": price.n_bytes,
            "fit_seconds": sum(member.seconds for member in chosen),
        }  # fmt: skip


def _dominates(one, other):
    no_worse = one["loss"] <= other["loss"] and one["us_per_row"] <= other["us_per_row"]
    return no_worse and (one["loss"] < other["loss"] or one["us_per_row"] < other["us_per_row"])


def search(model, rows, copies, budget, tell, rounds=None, judge_of=None):
    """A ``Found``, the records of all trials, and what Ctrl-C has kept or None.

    A row stands for so many ``copies`` of it. Who knows better which rows judge, and how, gives
    ``rounds`` and ``judge_of``.
    """
    rng, clock = check_random_state(model.random_state), Clock(model.time_limit)
    shape = Shape(*rows.X.shape, rows.targets.shape[1], hasattr(rows.task, "classes"))
    is_sparse = hasattr(rows.X, "toarray")
    speed = machine_speed(is_needed=budget.us is not None or budget.single_us is not None)

    def affordable(candidate):
        price = speed.price(candidate.family, candidate.cost(shape), shape.n_outputs)
        return budget.holds([price])

    tried = portfolio(
        shape, is_sparse, not budget.is_open, model.time_limit is not None, model.families
    )
    tried = [one for one in tried if one == LINEAR or affordable(one)]
    judge_of = judge_of or _judges(model, rows, copies)
    trials = Trials(rows, copies, tried, rng, judge_of, clock, model.n_jobs, tell, rounds)
    with keeping("the best model so far is") as interruption:
        trials.run()
    if interruption.kept and not trials.trials_of(LINEAR).scores:
        raise KeyboardInterrupt  # there is nothing yet to keep
    finished, counted = trials.finished()
    judge, held = judge_of(counted), np.concatenate([one.held for one in counted])
    answers, calibrations = zip(
        *(judge.answers(trial.candidate, scores) for trial, scores in finished), strict=True
    )
    prices = [
        speed.price(trial.candidate.family, trial.cost, shape.n_outputs) for trial, _ in finished
    ]
    linear = next(p for p, (trial, _) in enumerate(finished) if trial.candidate == LINEAR)
    blend = greedy(answers, judge, prices, budget)
    if blend is None:
        cheapest = min(prices, key=lambda price: price.us)
        raise ValueError(
            f"No model costs at most {budget}: the cheapest takes {cheapest.times_linear:.3g} × "
            f"linear, {cheapest.us:.2g} µs a row and {cheapest.n_bytes} bytes; allow more."
        )
    if budget.holds([prices[linear]]):
        blend = guarded(blend, linear, answers, judge)
    wanted = list(dict.fromkeys((linear, *blend.places, *_front(answers, judge, prices))))
    members = []
    with keeping("the best model so far is") as late:
        for place in wanted:
            if clock.is_spent and place not in (linear, *blend.places):
                break
            trial = finished[place][0]
            predictor = trial.candidate.fit(rows, int(trials.seeds[-1]), model.n_jobs)
            members.append(Member(
                trial.candidate, predictor, calibrations[place], answers[place],
                _measured(predictor, calibrations[place], rows.X, prices[place]), trial.seconds,
            ))  # fmt: skip
            tell(f"fitted {trial.candidate.family} to all rows", {"µs a row": members[-1].price.us})
    if not members:
        raise KeyboardInterrupt  # there is nothing yet to keep
    blend = replace(blend, places=tuple(wanted.index(place) for place in blend.places))
    found = _held_to(budget, Found(tuple(members), judge, blend, 0, held))
    return found, _all_trials(trials), interruption.kept or late.kept


def _held_to(budget, found):
    """The blend that was chosen, or another if Ctrl-C left it out or it is slower than forecast."""
    is_whole = max(found.blend.places) < len(found.members)
    if is_whole and budget.holds([found.price(found.blend)]):
        return found
    alone = Blend((found.linear,), (1.0,))
    found = replace(found, blend=found.within(budget) or (found.blend if is_whole else alone))
    price = found.price(found.blend)
    if not budget.holds([price]):
        warn_user(
            f"No model that was fitted keeps to {budget}: this one takes {price.us:.2g} µs a row, "
            f"{price.single_us:.2g} µs for one row, {price.times_linear:.3g} × linear."
        )
    return found


def _judges(model, rows, copies):
    is_classification = hasattr(rows.task, "classes")
    scorer = None if model.scoring is None else check_scoring(model, scoring=model.scoring)

    def judge_of(rounds):
        held = np.concatenate([one.held for one in rounds])
        times = np.concatenate([one.n_held for one in rounds])
        weight = rows.weight[held] * (times / copies[held])
        if is_classification:
            classes = rows.task.classes
            return ClassJudge(rows.labels[held], weight, len(classes), scorer, classes, times)
        return ValueJudge(rows.targets[held], weight, scorer, times)

    return judge_of


def _front(answers, judge, prices):
    """Single models that no other one beats in both loss and time."""
    losses = [judge.mean(one) for one in answers]
    order = sorted(range(len(losses)), key=lambda place: (prices[place].us, losses[place]))
    found, lowest = [], np.inf
    for place in order:
        if losses[place] < lowest:
            found, lowest = [*found, place], losses[place]
    return found


def _measured(predictor, calibration, X, forecast):
    # few rows are timed again and again: a call takes microseconds of its own
    places = np.arange(_TIMED_ROWS) % X.shape[0]
    rows, cost = X[places].astype(predictor.dtype), predictor.cost
    us, single_us, averaging_us = measured_us(predictor, rows), forecast.single_us, 0.0
    if calibration is not None:
        alone = Averaged((predictor,), (1.0,), (calibration,))
        averaging_us = max(0.0, measured_us(alone, rows) - us)
        if not isinstance(calibration, LogLoss):  # which it is part of then, alone or not
            us, averaging_us = us + averaging_us, 0.0
    if not hasattr(rows, "toarray"):  # compile() takes dense rows
        single_us = measured_single_us(predictor, rows[0])
    return Price(cost.times_linear, us, single_us, cost.n_bytes, averaging_us)


def _all_trials(trials):
    return [
        {
            "model": trial.candidate.family, "settings": settings_of(trial.candidate),
            "rounds": len(trial.scores), "fit_seconds": trial.seconds, "failure": trial.failure,
        }
        for trial in trials.trials
    ]  # fmt: skip
