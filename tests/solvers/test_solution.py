"""The record of training and the choice of the best iterate."""

import pytest

from nearlinear.solvers.solution import BestIterate


def offer_all(keeper, scores):
    """Offer models named by their epoch until the keeper says stop; epochs offered."""
    for epoch, _ in enumerate(scores):
        if keeper.offer(epoch, 0.0, epoch):
            return epoch + 1
    return len(scores)


@pytest.mark.parametrize(
    ("scores", "best"), [([0.1, 0.9, 0.5], 1), ([0.9, 0.1, 0.2], 0), ([0.5, 0.5, 0.5], 0)]
)
def test_the_first_of_the_best_models_is_kept(scores, best):
    keeper = BestIterate(lambda model: scores[model])
    offer_all(keeper, scores)
    assert keeper.model == best
    assert keeper.best == scores[best]


def test_without_held_out_rows_the_last_model_is_kept():
    keeper = BestIterate(None, patience=1)
    assert offer_all(keeper, [None] * 4) == 4
    assert keeper.model == 3


def test_waiting_is_counted_from_the_last_improvement():
    scores = [0.1, 0.1, 0.2, 0.2, 0.2, 0.9]
    keeper = BestIterate(lambda model: scores[model], patience=2)
    assert offer_all(keeper, scores) == 5
    assert keeper.model == 2


def test_progress_is_reported_as_it_is_recorded():
    seen = []
    keeper = BestIterate(lambda model: 0.5, on_progress=seen.append)
    keeper.offer(0, 1.5, "model")
    assert seen == keeper.history
    assert (seen[0].epoch, seen[0].objective, seen[0].validation_score) == (0, 1.5, 0.5)
