"""What a watch records, keeps, and when it asks for a stop."""

import pytest

from nearlinear.solvers.watch import Progress, Watch


def tell(watch, step):
    """A step whose state is its number."""
    return watch(Progress(step, 0.0, state=step))


def tell_all(watch, scores):
    """Tell of steps until the watch says stop; steps told."""
    for step, _ in enumerate(scores):
        if tell(watch, step):
            return step + 1
    return len(scores)


@pytest.mark.parametrize(
    ("scores", "best"), [([0.1, 0.9, 0.5], 1), ([0.9, 0.1, 0.2], 0), ([0.5, 0.5, 0.4], 1)]
)
def test_the_last_of_the_best_models_is_kept(scores, best):
    watch = Watch(None, lambda state: scores[state])
    tell_all(watch, scores)
    assert watch.best == best
    assert watch.best_score == scores[best]


def test_without_held_out_rows_the_last_model_is_kept():
    watch = Watch(patience=1)
    assert tell_all(watch, [None] * 4) == 4
    assert watch.best == 3


def test_waiting_is_counted_from_the_last_improvement():
    scores = [0.1, 0.1, 0.2, 0.2, 0.2, 0.9]
    watch = Watch(None, lambda state: scores[state], patience=2)
    assert tell_all(watch, scores) == 5  # an equal is kept, but it is no improvement
    assert watch.best == 4


def test_progress_is_reported_as_it_is_recorded():
    seen = []
    watch = Watch(seen.append, lambda state: 0.5)
    watch(Progress(0, 1.5, state="state"))
    assert seen == watch.history
    assert seen[0] == Progress(0, 1.5, score=0.5)  # states are not recorded


def test_the_last_state_is_there_for_ctrl_c():
    watch = Watch(None, lambda state: -state)
    tell_all(watch, range(3))
    assert (watch.best, watch.last) == (0, 2)
    watch.keep(5)  # between two steps
    assert (watch.best, watch.last) == (0, 5)
    plain = Watch()
    plain.keep(5)
    assert (plain.best, plain.last) == (5, 5)
