"""What a search leaves behind: fitted models, how they are judged, and which were chosen."""

from dataclasses import dataclass

import numpy as np

from ..predictors.averaged import Averaged
from ..runtime.outcome import LogLoss
from .averaging import Blend, best_blend, mean_and_error
from .budgets import Price
from .front import knee, measured_front
from .trials import settings_of

ALL_ROWS = "all rows"


@dataclass(frozen=True)
class Member:
    """A candidate that was fitted last, with what held-out rows said of it."""

    candidate: object
    predictor: object
    calibration: object
    answers: np.ndarray
    price: Price
    seconds: float
    fitted_to: str = ALL_ROWS


@dataclass(frozen=True)
class Found:
    """Members, their judge, and the blend that was chosen; ``linear`` is the linear one's place."""

    members: tuple
    judge: object
    blend: Blend
    linear: int
    held: np.ndarray

    def within(self, budget):
        """The best blend inside a budget, without another fit."""
        return best_blend(self.answers, self.judge, self.prices, budget, self.linear)

    def knee(self, budget):
        """The point of the front inside a budget from which on more time buys little."""
        blends = [blend for blend in self._blends if budget.holds([self.price(blend)])]
        found = knee([(self.price(blend).us, self._loss(blend)[0]) for blend in blends])
        return None if found is None else blends[found]

    @property
    def _blends(self):
        """Every member alone, and the average that was chosen."""
        alone = [Blend.alone(place) for place in range(len(self.members))]
        return list(dict.fromkeys((*alone, self.blend)))

    def _loss(self, blend):
        """On held-out rows, with its standard error."""
        judge = self.judge
        losses = judge.losses(blend.answers(self.answers))
        return mean_and_error(losses, judge.weight, judge.copies)

    @property
    def answers(self):
        return [member.answers for member in self.members]

    @property
    def prices(self):
        return [member.price for member in self.members]

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
        blends = dict.fromkeys((*self._blends, chosen))
        found = [{**self._record(blend), "is_chosen": blend == chosen} for blend in blends]
        best = measured_front([(one["us_per_row"], one["loss"]) for one in found])
        return [{**one, "on_front": place in best} for place, one in enumerate(found)]

    def _record(self, blend):
        answers = blend.answers(self.answers)
        judge, (loss, error) = self.judge, self._loss(blend)
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
            "fitted_to": ", ".join(dict.fromkeys(member.fitted_to for member in chosen)),
        }  # fmt: skip
