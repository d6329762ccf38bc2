"""Settings that LLC-SAPL tries, from a linear model on, and attributes of its fits."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AnchorSetting:
    """How much local models may learn: how many anchors, how close to a linear root they stay.

    One anchor is the linear model itself. ``C`` is relative to the spread of the features where
    there is a root. ``learns`` says whether the anchors move, or stay where k-means put them.
    """

    n_anchors: int
    C: float
    jitter: float
    learns: bool = True
    has_root: bool = True
    loss: str = "squared_hinge"


LINEAR = [AnchorSetting(1, C, 0.0, learns=False) for C in (1.0, 0.1, 10.0, 0.01)]
FIXED = [AnchorSetting(16, 0.1, 0.0, learns=False), AnchorSetting(48, 1.0, 0.0, learns=False)]
LEARNED = [AnchorSetting(100, 0.1, 0.3), AnchorSetting(100, 1.0, 0.1)]  # the last is the fullest


def attributes_of(watch, setting, tried):
    """What a user sees of a fit beside its predictor."""
    return {
        "history_": watch.history,
        "n_iter_": max(1, watch.history[-1].step),
        "setting_": setting,
        "settings_tried_": tried,
        "loss_": setting.loss,
    }
