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
    ("scores", "best"), [([0.1, 0.9, 0.5], 1), ([0.9, 0.1, 0.2], 0), ([0.5, 0.5, 0.4], 1)]
)
def test_the_last_of_the_best_models_is_kept(scores, best):
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
    assert offer_all(keeper, scores) == 5  # an equal is kept, but it is no improvement
    assert keeper.model == 4


def test_progress_is_reported_as_it_is_recorded():
    seen = []
    keeper = BestIterate(lambda model: 0.5, on_progress=seen.append)
    keeper.offer(0, 1.5, "model")
    assert seen == keeper.history
    assert (seen[0].epoch, seen[0].objective, seen[0].validation_score) == (0, 1.5, 0.5)


def test_the_latest_model_is_kept_on_demand():
    scores = [0.1, 0.9, 0.5]
    keeper = BestIterate(lambda model: scores[model], keeps_latest=True)
    offer_all(keeper, scores)
    assert keeper.model == 2
    assert keeper.best == 0.5


def test_after_the_latest_model_only_a_better_one_is_kept():
    scores = [0.9, 0.5, 0.4, 0.6]
    keeper = BestIterate(lambda model: scores[model], keeps_latest=True)
    for model in (0, 1):
        keeper.offer(model, 0.0, model)
    keeper.keeps_latest = False
    keeper.offer(2, 0.0, 2)
    assert keeper.model == 1
    keeper.offer(3, 0.0, 3)
    assert keeper.model == 3


def test_a_new_phase_waits_from_its_beginning():
    keeper = BestIterate(lambda model: 0.5, patience=3)
    assert [keeper.offer(epoch, 0.0, epoch) for epoch in range(3)] == [False] * 3
    keeper.wait_again()
    assert [keeper.offer(epoch, 0.0, epoch) for epoch in range(3)] == [False, False, True]


def test_notes_go_into_the_record():
    keeper = BestIterate(None)
    keeper.offer(1, 0.0, "model", soft_score=0.7, hard_score=0.6)
    assert (keeper.history[0].soft_score, keeper.history[0].hard_score) == (0.7, 0.6)
