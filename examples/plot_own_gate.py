"""A gate of your own.

Something is in one of two states that take turns, and each state has a trend of its own. About
every seven days both have had their turn; the period is known no better than that. The gates that
come with LMKL share out a line by thresholds or centers. They can learn the past, but not that it
comes again; shown the cosine and sine of the time, they take the seven days as given.

So we write a gate whose components take turns and whose period is learned. It needs five things:
``start``, a call, ``parameters``, ``with_parameters`` and ``gradient``. We hold the gradient
against finite differences, fit, and compare on held-out rows of the same thirty days and of the
fifteen after.

    python examples/plot_own_gate.py [--out picture.png]
"""

import argparse
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import check_grad
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LMKLRegressor
from nearlinear.displays import LocalFitsDisplay
from nearlinear.gates.learned import softmax, softmax_slopes

PERIOD, ABOUT = 7.6, 7.0  # the truth, and what we know of it
LAST_DAY = 30.0
TURN = 2.0 * np.pi
INK = "#28323c"


@dataclass(frozen=True)
class TakingTurns:
    """γ_m(t) ∝ exp(sharpness × cos(angle(t) − 2π m / M)): each is open once in a period."""

    period: float
    n_components: int = 2
    middle: float = 0.0
    parameters: np.ndarray | None = None  # shift, drift, sharpness

    def start(self, Z, n_components, rng):
        period = self.period * rng.uniform(0.8, 1.25)  # n_init starts differ
        begin = np.array([rng.uniform(-np.pi, np.pi), 0.0, 2.0])
        return TakingTurns(period, n_components, float(Z[:, 0].mean()), begin)

    def with_parameters(self, parameters):
        return replace(self, parameters=parameters)

    def __call__(self, Z):
        _, angles = self._angles(Z)
        return softmax(self.parameters[2] * np.cos(angles))

    def gradient(self, Z, slopes):
        since, angles = self._angles(Z)
        pull = softmax_slopes(self(Z), slopes)  # ∂L/∂scores
        turn = -self.parameters[2] * np.sin(angles) * pull  # ∂L/∂angles
        return np.array([turn.sum(), (turn * since).sum(), (np.cos(angles) * pull).sum()])

    def _angles(self, Z):
        shift, drift, _ = self.parameters
        since = (Z[:, :1] - self.middle) / self.period
        own = TURN * np.arange(self.n_components) / self.n_components
        return since, (TURN + drift) * since + shift - own

    @property
    def learned_period(self):
        return TURN * self.period / (TURN + self.parameters[1])


def make_rows():
    """Days to learn from, held-out rows of the same days, and days to come."""
    rng = np.random.default_rng(0)
    t = np.concatenate([rng.uniform(0.0, LAST_DAY, 480), rng.uniform(LAST_DAY, 45.0, 240)])
    is_first = np.sin(TURN * t / PERIOD + 1.0) > 0
    y = np.where(is_first, 2.0 + 0.06 * t, -0.04 * t) + 0.1 * rng.standard_normal(len(t))
    return np.split(t[:, None], 3), np.split(y, 3)


def gradient_error(gate, X):
    """How far the gate's gradient is from finite differences, relative to its length."""
    rng = np.random.default_rng(1)
    gate = gate.start(X, 2, rng)
    slopes = rng.standard_normal((len(X), 2))

    def value(parameters):
        return float((slopes * gate.with_parameters(parameters)(X)).sum())

    def gradient(parameters):
        return gate.with_parameters(parameters).gradient(X, slopes)

    off = check_grad(value, gradient, gate.parameters)
    return off / np.linalg.norm(gradient(gate.parameters))


def waves(X):
    """What a gate must be shown so that it comes again after ``ABOUT`` days."""
    return np.hstack([np.cos(TURN * X / ABOUT), np.sin(TURN * X / ABOUT)])


def contenders():
    """The gates that come with LMKL, with few and many components, and our own."""
    settings = {"gate_penalty": 0.01, "n_init": 5, "random_state": 0}
    for name in ("softmax", "sigmoid", "gaussian"):
        for n_copies in (2, 10):
            model = LMKLRegressor(n_copies=n_copies, gate=name, **settings)
            yield name, n_copies, make_pipeline(StandardScaler(), model)
    for n_copies in (2, 10):
        model = LMKLRegressor(n_copies=n_copies, gating_features=waves, **settings)
        yield "softmax of waves", n_copies, model
    yield "taking turns", 2, LMKLRegressor(n_copies=2, gate=TakingTurns(ABOUT), **settings)


def draw(model, X, y, later, later_values):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 5.0), layout="constrained")
    display = LocalFitsDisplay.from_estimator(
        model, X, y, 1000, margin=0.52, ax=figure.subplots(), title="Two components that take turns"
    )
    ax = display.ax_
    ax.scatter(later, later_values, s=14, marker="x", color=INK, linewidth=0.7)
    ax.axvline(LAST_DAY, color=INK, linewidth=0.8)
    white = {"facecolor": "white", "edgecolor": "none", "pad": 2}
    ax.text(LAST_DAY + 0.4, 1.5, "×  days to come", color=INK, fontsize=9, bbox=white, zorder=5)
    ax.set(xlim=(-0.5, 45.5), xlabel="day")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", metavar="PICTURE", help="file for the picture; none is drawn else")
    options = parser.parse_args()
    (X, same_days, later), (y, same_values, later_values) = make_rows()
    print(f"gradient beside finite differences: off by {gradient_error(TakingTurns(ABOUT), X):.0e}")
    print(f"\nroot mean square error\n{'':18}{'components':>12}{'same days':>12}{'later':>12}")
    for name, n_copies, model in contenders():
        model.fit(X, y)
        errors = [
            np.sqrt(np.mean((model.predict(rows) - values) ** 2))
            for rows, values in ((same_days, same_values), (later, later_values))
        ]
        print(f"{name:18}{n_copies:12}" + "".join(f"{error:12.2f}" for error in errors))
    learned = model.gate_.gate.learned_period  # gate_ rounds what is all but shut or open
    print(f"\nperiod: {learned:.2f} days learned, {PERIOD} true, {ABOUT} known before")
    if options.out:
        draw(model, X, y, later, later_values).savefig(options.out, dpi=130)
        print(f"\npicture: {options.out}")


if __name__ == "__main__":
    main()
