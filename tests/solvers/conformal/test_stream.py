"""Rows and kernels that stream together, against sums over all stored rows."""

import numpy as np
import pytest

from nearlinear.kernels.candidates import ConformalBank, ConformalScales
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.conformal_grams import ConformalGrams
from nearlinear.kernels.rows import GramRows
from nearlinear.solvers.conformal.stream import ConformalStream
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine
from nearlinear.solvers.mixture.active_set import solve_sequential
from nearlinear.solvers.mixture.objective import Descent, KernelObjective
from reference.conformal import bank_features, bank_gram

BIASES = [FreeBias(), FixedBias(1.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalized", "none"])
EACH_TASK = pytest.mark.parametrize("task", ["two classes", "three classes", "values"])
N_OUTPUTS = {"two classes": 1, "three classes": 3, "values": 1}


class Rows:
    """Rows of one of three tasks, with a weight each."""

    C = 5.0

    def __init__(self, X, y, task):
        self.X, self.task = X, task
        self.y = {
            "two classes": y,
            "three classes": y + (X[:, 1] > 0.5),
            "values": np.sin(2 * X[:, 0]),
        }[task].astype(np.float64)
        self.weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))

    @property
    def n_outputs(self):
        return N_OUTPUTS[self.task]

    def problems(self, y, weight):
        C = self.C * weight
        if self.task == "values":
            return [DualProblem.of_values(y, C, 0.1)]
        if self.task == "two classes":
            return [DualProblem.of_signs(2 * y - 1, C)]
        return [DualProblem.of_signs(np.where(y == label, 1, -1), C) for label in range(3)]

    def stream(self, steps, max_support=None, max_kernels=None, profile="gaussian", seed=0):
        scales = ConformalScales.of_rows(
            self.X, self.weight, PROFILES[profile], False, (0.3, 1.0, 3.0), 0.5
        )  # fmt: skip
        return ConformalStream(
            scales, steps, self.n_outputs, self.X.shape[1], max_support, max_kernels,
            np.random.RandomState(seed),
        )  # fmt: skip

    def send(self, stream, rows, ids=None, y=None, X=None, named=True):
        """Rows under their own numbers, other content under the same ones, or without numbers."""
        rows = np.asarray(rows)
        y = self.y[rows] if y is None else y
        X = self.X[rows] if X is None else X
        ids = rows if ids is None else ids
        problems = self.problems(y, self.weight[rows])
        stream.process(X, y, self.weight[rows], problems, ids if named else None)


@pytest.fixture
def make(moons):
    X, y = moons
    order = np.random.default_rng(2).permutation(len(X))

    def of_task(task="two classes", n_rows=200):
        return Rows(X[order[:n_rows]], y[order[:n_rows]], task)

    return of_task


def check(stream, steps, rows):
    """All that must hold of what is stored, whatever has come and gone."""
    n_stored = len(stream.X)
    assert len(stream.y) == len(stream.weight) == len(stream.sent) == n_stored
    assert len(stream.ids) == len(stream.has_id) == n_stored
    named = stream.ids[stream.has_id]
    assert len(np.unique(named)) == len(named)
    assert stream.dual_coef.shape == (n_stored, rows.n_outputs)
    assert len(stream.machines) == len(stream.problems) == rows.n_outputs
    expected = rows.problems(stream.y, stream.weight)
    for o, (machine, problem) in enumerate(zip(stream.machines, stream.problems, strict=True)):
        for name in ("targets", "lower", "upper"):
            np.testing.assert_allclose(getattr(problem, name), getattr(expected[o], name))
        coef = stream.dual_coef[:, o]
        feature_sums = np.einsum("i,mid->md", coef, bank_features(machine.bank, stream.X))
        np.testing.assert_allclose(machine.feature_sums, feature_sums, atol=1e-9)
        assert machine.total == pytest.approx(coef.sum(), abs=1e-9)
        assert stream.sample is None or n_stored <= stream.sample.size
        assert np.all(coef >= problem.lower)
        assert np.all(coef <= problem.upper)
        assert len(machine.bank) == len(machine.weights) > 0
        assert machine.weights.min() >= 0.0
        assert machine.weights.sum() == pytest.approx(1.0)
        if steps.is_free:
            assert coef.sum() == pytest.approx(0.0, abs=1e-9)
        else:
            assert machine.bias == pytest.approx(steps.shift * coef.sum(), abs=1e-9)


def dual_values(stream, steps):
    """Of each output, on all stored rows."""
    values = []
    for o, machine in enumerate(stream.machines):
        coef = stream.dual_coef[:, o]
        gram = bank_gram(machine.bank, stream.X, machine.weights) + steps.shift
        values.append(stream.problems[o].dual_value(coef, coef @ gram @ coef))
    return np.array(values)


def optima(stream, steps):
    """Of each output, for the kernels and weights it has."""
    grams = [bank_gram(machine.bank, stream.X, machine.weights) for machine in stream.machines]
    return np.array(
        [
            solve_kernel_machine(GramRows(gram), problem, steps, tol=1e-4).objective
            for gram, problem in zip(grams, stream.problems, strict=True)
        ]
    )


@EACH_TASK
@EACH_BIAS
@pytest.mark.parametrize("n_each", [1, 70])
def test_state_is_consistent_after_every_call(make, task, steps, n_each):
    rows = make(task)
    stream = rows.stream(steps)
    n_sent = 20 if n_each == 1 else 200
    for start in range(0, n_sent, n_each):
        rows.send(stream, np.arange(start, min(start + n_each, n_sent)))
        check(stream, steps, rows)
    assert stream.has_id.all()
    np.testing.assert_array_equal(np.sort(stream.ids), np.arange(n_sent))
    order = np.argsort(stream.ids)
    np.testing.assert_array_equal(stream.X[order], rows.X[:n_sent])
    np.testing.assert_array_equal(stream.y[order], rows.y[:n_sent])
    np.testing.assert_array_equal(stream.weight[order], rows.weight[:n_sent])


@pytest.mark.parametrize("profile", PROFILES)
def test_state_is_consistent_for_every_profile(make, profile):
    rows = make()
    stream = rows.stream(BIASES[1], max_support=60, max_kernels=5, profile=profile)
    for start in range(0, 200, 50):
        rows.send(stream, np.arange(start, start + 50))
        check(stream, BIASES[1], rows)


@EACH_TASK
@EACH_BIAS
def test_a_second_pass_stores_nothing_twice(make, task, steps):
    rows = make(task)
    stream = rows.stream(steps)
    everyone = np.arange(200)
    rows.send(stream, everyone)
    rows.send(stream, everyone)
    check(stream, steps, rows)
    assert len(stream.X) == 200
    np.testing.assert_array_equal(np.sort(stream.ids), everyone)
    # steps went on where they were
    assert np.all(dual_values(stream, steps) >= 0.95 * optima(stream, steps))


@EACH_TASK
@EACH_BIAS
def test_replaced_rows_count_with_their_new_content(make, task, steps, rng):
    rows = make(task)
    stream = rows.stream(steps)
    rows.send(stream, np.arange(120))
    changed = rng.permutation(120)[:50]
    others = rng.permutation(changed)  # content of other rows
    rows.send(stream, changed, y=rows.y[others], X=rows.X[others] + 0.1)
    check(stream, steps, rows)
    assert len(stream.X) == 120
    place = {number: p for p, number in enumerate(stream.ids)}
    for new, old in zip(changed, others, strict=True):
        np.testing.assert_array_equal(stream.X[place[new]], rows.X[old] + 0.1)
        assert stream.y[place[new]] == rows.y[old]
    for number in np.setdiff1d(np.arange(120), changed):
        np.testing.assert_array_equal(stream.X[place[number]], rows.X[number])


def test_labels_that_are_turned_round_turn_the_machine(make):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps)
    rows.send(stream, np.arange(150))
    machine = stream.machines[0]

    def accuracy(y):
        return np.mean((machine.scores(rows.X) + machine.bias > 0) == (y > 0))

    assert accuracy(rows.y) > 0.9
    for _ in range(2):
        rows.send(stream, np.arange(150), y=1.0 - rows.y[:150])
    check(stream, steps, rows)
    assert accuracy(1.0 - rows.y) > 0.9


def test_of_one_number_in_a_call_the_last_row_counts(make):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps)
    rows.send(stream, np.arange(100), ids=np.arange(100) % 40)
    check(stream, steps, rows)
    assert len(stream.X) == 40
    order = np.argsort(stream.ids)
    last = np.r_[np.arange(80, 100), np.arange(60, 80)]
    np.testing.assert_array_equal(stream.X[order], rows.X[last[np.argsort(last % 40)]])


def test_numbers_may_come_in_any_order(make, rng):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps)
    numbers = rng.permutation(10**6)[:200]
    for part in (np.arange(100), np.arange(50, 150), np.arange(200)):
        rows.send(stream, part, ids=numbers[part])
        check(stream, steps, rows)
    assert np.any(np.diff(stream.ids) < 0)
    order, place = np.argsort(stream.ids), np.argsort(numbers)
    np.testing.assert_array_equal(stream.ids[order], numbers[place])
    np.testing.assert_array_equal(stream.X[order], rows.X[place])
    np.testing.assert_array_equal(stream.y[order], rows.y[place])


def test_rows_without_a_number_are_stored_anew(make):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps)
    for _ in range(2):
        rows.send(stream, np.arange(80), named=False)
        check(stream, steps, rows)
    assert not stream.has_id.any()
    np.testing.assert_array_equal(stream.X, np.vstack([rows.X[:80], rows.X[:80]]))


@EACH_BIAS
def test_rows_without_a_number_are_never_replaced(make, steps):
    rows = make()
    stream = rows.stream(steps)
    rows.send(stream, np.arange(60), named=False)
    for _ in range(2):
        rows.send(stream, np.arange(60, 120), ids=np.arange(60))  # numbers from 0 on
        check(stream, steps, rows)
        np.testing.assert_array_equal(stream.X, rows.X[:120])
        np.testing.assert_array_equal(stream.has_id, np.arange(120) >= 60)


def test_a_number_is_looked_for_among_rows_that_have_one(make, rng):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps)
    numbers = rng.permutation(1000)[:120] - 500
    for start in range(0, 120, 40):  # of every forty rows, ten without a number
        named, others = np.arange(start, start + 30), np.arange(start + 30, start + 40)
        rows.send(stream, named, ids=numbers[named])
        rows.send(stream, others, named=False)
    has_number = np.arange(120) % 40 < 30
    np.testing.assert_array_equal(stream.has_id, has_number)
    np.testing.assert_array_equal(stream.ids[has_number], numbers[has_number])
    changed = rng.permutation(np.flatnonzero(has_number))[:50]
    rows.send(stream, changed, ids=numbers[changed], X=rows.X[changed] + 1.0)
    check(stream, steps, rows)
    expected = rows.X[:120].copy()
    expected[changed] += 1.0
    np.testing.assert_array_equal(stream.X, expected)


def test_rows_that_stay_keep_their_numbers(make):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps, max_support=30)
    for start in range(0, 200, 40):
        rows.send(stream, np.arange(start, start + 20))
        rows.send(stream, np.arange(start + 20, start + 40), named=False)
        check(stream, steps, rows)
    named = stream.ids < 200  # those drawn are large
    assert 0 < named.sum() < len(named) <= 30
    np.testing.assert_array_equal(stream.X[named], rows.X[stream.ids[named]])
    came_without = rows.X[np.arange(200) % 40 >= 20]
    assert {tuple(row) for row in stream.X[~named]} <= {tuple(row) for row in came_without}


@pytest.mark.parametrize("task", ["three classes", "values"])
@EACH_BIAS
@pytest.mark.parametrize("max_support, max_kernels", [(1, 1), (20, None), (None, 2), (40, 4)])
def test_budgets_hold_after_every_block(make, task, steps, max_support, max_kernels):
    rows = make(task)
    stream = rows.stream(steps, max_support, max_kernels)
    for start in range(0, 120, 40):
        rows.send(stream, np.arange(start, start + 40))
        check(stream, steps, rows)
        assert len(stream.X) <= (max_support or 120)
        assert max(len(machine.bank) for machine in stream.machines) <= (max_kernels or np.inf)


@EACH_TASK
def test_a_budget_stores_one_sample_however_rows_come(make, task, rng):
    rows, steps = make(task), BIASES[1]
    stored = []
    for order, size in ((np.arange(200), 200), (rng.permutation(200), 37)):
        stream = rows.stream(steps, max_support=60)
        for start in range(0, 200, size):
            rows.send(stream, order[start : start + size])
        stored.append(set(stream.ids))
        for _ in range(2):  # nor does another pass change it
            rows.send(stream, rng.permutation(200))
            assert set(stream.ids) == stored[-1]
        check(stream, steps, rows)
    assert len(stored[0]) == len(stored[1]) == 60
    # how many rows of a class may stay is not certain before the end
    assert len(stored[0] & stored[1]) >= (60 if task == "values" else 50)


@EACH_TASK
@EACH_BIAS
def test_copies_add_their_weights(make, task, steps):
    rows = make(task)
    one, other = (rows.stream(steps, max_support=60) for _ in range(2))
    numbers = np.arange(200)
    problems = rows.problems(rows.y, rows.weight)
    one.process(rows.X, rows.y, rows.weight, problems, numbers, adds=True)
    for part in (np.repeat(numbers[:150], 2), numbers[:50], numbers):
        thirds = rows.weight[part] / 3.0
        other.process(
            rows.X[part], rows.y[part], thirds, rows.problems(rows.y[part], thirds), part,
            adds=True,
        )  # fmt: skip
    places = [np.argsort(stream.ids) for stream in (one, other)]
    shared = np.intersect1d(one.ids, other.ids)
    assert len(shared) >= 50
    sent = [stream.sent[place][np.isin(stream.ids[place], shared)] for stream, place in
            zip((one, other), places, strict=True)]  # fmt: skip
    times = np.where(shared < 50, 4.0, np.where(shared < 150, 3.0, 1.0)) / 3.0
    np.testing.assert_allclose(sent[1], times * sent[0])
    check(other, steps, rows)


@EACH_TASK
def test_a_stream_within_its_budget_is_one_without(make, task):
    rows, steps = make(task), BIASES[0]
    stream = rows.stream(steps, max_support=200)
    rows.send(stream, np.arange(200))
    assert len(stream.X) == 200
    np.testing.assert_array_equal(stream.weight, stream.sent)


@EACH_TASK
@EACH_BIAS
def test_rows_that_stay_make_up_for_those_dropped(make, task, steps):
    rows = make(task)
    stream = rows.stream(steps, max_support=30)
    rows.send(stream, np.arange(120))
    check(stream, steps, rows)
    assert np.all(dual_values(stream, steps) >= 0.99 * optima(stream, steps))


@EACH_BIAS
@pytest.mark.parametrize("seed", range(4))
def test_any_sequence_of_calls_leaves_a_consistent_state(make, steps, seed):
    rng = np.random.default_rng(seed)
    rows = make(["two classes", "three classes", "values"][seed % 3])
    stream = rows.stream(steps, [None, 30, 7, 60][seed], [None, 3, None, 6][seed])
    for _ in range(8):
        part = rng.permutation(200)[: rng.integers(1, 80)]
        y = rows.y[rng.permutation(part)] if rng.random() < 0.3 else None
        rows.send(stream, part, y=y, named=rng.random() < 0.7)
        if rng.random() < 0.2:
            stream.reconsider()
        check(stream, steps, rows)


@EACH_BIAS
@pytest.mark.parametrize("n_each", [1, 40])
def test_one_class_may_come_first(make, steps, n_each):
    rows = make()
    stream = rows.stream(steps)
    order = np.argsort(rows.y, kind="stable")
    for start in range(0, 40, n_each):
        rows.send(stream, order[start : start + n_each])
        check(stream, steps, rows)
    scores = stream.machines[0].scores(rows.X[order[:40]]) + stream.machines[0].bias
    assert steps == FixedBias() or np.all(scores < 0.0)
    rows.send(stream, order)
    check(stream, steps, rows)
    rows.send(stream, order)
    scores = stream.machines[0].scores(rows.X) + stream.machines[0].bias
    assert np.mean((scores > 0) == (rows.y > 0)) > 0.9


@EACH_BIAS
@pytest.mark.parametrize("task", ["two classes", "values"])
def test_rows_may_come_one_at_a_time(make, task, steps):
    rows = make(task)
    stream = rows.stream(steps)
    for i in range(150):
        rows.send(stream, [i])
    check(stream, steps, rows)
    assert dual_values(stream, steps)[0] >= 0.95 * optima(stream, steps)[0]
    scores = stream.machines[0].scores(rows.X) + stream.machines[0].bias
    if task == "values":
        assert np.abs(scores - rows.y).mean() < 0.2
    else:
        assert np.mean((scores > 0) == (rows.y > 0)) > 0.85


@EACH_BIAS
def test_the_first_row_may_come_alone_and_set_the_scale(make, steps):
    rows = make()
    for profile in PROFILES.values():
        scales = ConformalScales.of_rows(rows.X[:1], np.ones(1), profile, False, (0.3, 3.0), 0.5)
        stream = ConformalStream(scales, steps, 1, 2, None, None, np.random.RandomState(0))
        for start, stop in ((0, 1), (1, 2), (2, 60), (60, 200)):
            rows.send(stream, np.arange(start, stop))
            check(stream, steps, rows)


def test_a_free_bias_follows_the_scores(make):
    rows, steps = make(), BIASES[0]
    stream = rows.stream(steps)
    machine = stream.machines[0]
    for start in range(0, 200, 20):
        rows.send(stream, np.arange(start, start + 20))
        problem = stream.problems[0]
        slack = problem.targets - machine.scores(stream.X)
        ours = problem.loss(slack - machine.bias)
        best = problem.loss(slack - problem.best_bias(slack))
        assert ours <= 1.05 * best + 1e-6 * rows.C  # of an optimum without loss, no share


@EACH_TASK
@EACH_BIAS
def test_a_stream_comes_near_the_batch_optimum(make, task, steps):
    rows = make(task)
    stream = rows.stream(steps)
    for _ in range(3):
        rows.send(stream, np.arange(200))
    reached = optima(stream, steps)
    assert np.all(dual_values(stream, steps) >= 0.98 * reached)
    grams = ConformalGrams(stream.scales.bank(rows.X[::2]), rows.X)
    for o, problem in enumerate(rows.problems(rows.y, rows.weight)):
        found = solve_sequential(Descent(KernelObjective(grams, problem, steps)), tol=0.05)
        assert reached[o] <= 1.6 * found.objective  # not all kernels were tried


def solve_batch(rows, steps):
    """Bank, evaluation of every output, and coefficients."""
    scales = rows.stream(steps).scales
    bank = scales.bank(rows.X[::4])
    machines, coefs = [], []
    for problem in rows.problems(rows.y, rows.weight):
        learning = KernelObjective(ConformalGrams(bank, rows.X), problem, steps)
        found = solve_sequential(Descent(learning), tol=0.1)
        machines.append((bank.take(np.flatnonzero(found.weights)), found.evaluation))
        coefs.append(found.evaluation.machine.dual_coef)
    return machines, np.stack(coefs, axis=1)


@EACH_TASK
@EACH_BIAS
@pytest.mark.parametrize("support_only", [True, False])
def test_a_stream_goes_on_from_a_batch_solution(make, task, steps, support_only):
    rows = make(task, 100)
    machines, coef = solve_batch(rows, steps)
    kept = np.flatnonzero(np.any(coef != 0.0, axis=1)) if support_only else np.arange(100)
    stream = rows.stream(steps)
    stream.resume(
        rows.X[kept], rows.y[kept], rows.weight[kept],
        [one.take(kept) for one in rows.problems(rows.y, rows.weight)], coef[kept], machines,
        ids=kept,
    )  # fmt: skip
    check(stream, steps, rows)
    for o, (_, evaluation) in enumerate(machines):
        machine = stream.machines[o]
        fitted = rows.problems(rows.y, rows.weight)[o].targets - evaluation.machine.slack
        expected = fitted - steps.shift * coef[:, o].sum() + evaluation.machine.bias
        np.testing.assert_allclose(machine.scores(rows.X) + machine.bias, expected, atol=1e-8)
    rows.send(stream, np.arange(100))
    check(stream, steps, rows)
    assert len(stream.X) == 100


def test_rows_of_a_batch_have_no_numbers(make):
    rows, steps = make(n_rows=100), BIASES[1]
    machines, coef = solve_batch(rows, steps)
    stream = rows.stream(steps)
    problems = rows.problems(rows.y, rows.weight)
    stream.resume(rows.X, rows.y, rows.weight, problems, coef, machines)
    check(stream, steps, rows)
    assert not stream.has_id.any()
    rows.send(stream, np.arange(50))
    check(stream, steps, rows)
    np.testing.assert_array_equal(stream.X, np.vstack([rows.X, rows.X[:50]]))
    np.testing.assert_array_equal(stream.has_id, np.arange(150) >= 100)


@EACH_TASK
@EACH_BIAS
def test_on_a_budget_a_batch_solution_is_cut_to_a_sample(make, task, steps):
    rows = make(task, 100)
    machines, coef = solve_batch(rows, steps)
    stream = rows.stream(steps, max_support=40)
    problems = rows.problems(rows.y, rows.weight)
    stream.resume(rows.X, rows.y, rows.weight, problems, coef, machines, ids=np.arange(100))
    check(stream, steps, rows)
    assert len(stream.X) == 40
    assert np.all(dual_values(stream, steps) >= 0.99 * optima(stream, steps))
    rows.send(stream, np.arange(100))
    assert len(stream.X) == 40


@pytest.mark.parametrize("max_support", [None, 40])
def test_a_stream_restarts_from_a_solution_of_its_rows(make, max_support):
    rows, steps = make(n_rows=100), BIASES[1]
    stream = rows.stream(steps, max_support)
    rows.send(stream, np.arange(100))
    stored = Rows(stream.X.copy(), stream.y > 0, "two classes")
    stored.weight = stream.weight.copy()
    machines, coef = solve_batch(stored, steps)
    before = stream.ids.copy(), stream.sent.copy()
    stream.restart(stream.scales, stored.problems(stored.y, stored.weight), coef, machines)
    check(stream, steps, rows)
    rows.send(stream, np.arange(100))
    check(stream, steps, rows)
    np.testing.assert_array_equal(stream.ids, before[0])
    np.testing.assert_allclose(stream.sent, before[1])


def test_kernels_around_recent_rows_may_enter(make):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps)
    near = np.argsort(rows.X[:, 0])
    rows.send(stream, near[:64])  # the left
    known = {tuple(anchor) for anchor in stream.machines[0].bank.anchors}
    assert max(x for x, _ in known) < np.median(rows.X[:, 0])
    rows.send(stream, near[64:])
    entered = {tuple(anchor) for anchor in stream.machines[0].bank.anchors} - known
    assert entered
    assert entered <= {tuple(row) for row in rows.X}


def test_a_stream_that_begins_with_one_row_soon_tries_others(make):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps)
    for i in range(40):
        rows.send(stream, [i])
    assert len(np.unique(stream.machines[0].bank.anchors, axis=0)) > 1


def test_to_reconsider_an_empty_stream_does_nothing(make):
    stream = make().stream(BIASES[1])
    stream.reconsider()
    assert len(stream.machines[0].bank) == 0


def test_no_rows_change_nothing(make):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps)
    rows.send(stream, np.arange(0))
    assert len(stream.X) == 0
    rows.send(stream, np.arange(50))
    scores = stream.machines[0].scores(rows.X)
    rows.send(stream, np.arange(0))
    np.testing.assert_array_equal(stream.machines[0].scores(rows.X), scores)


def test_a_stream_depends_on_its_seed_alone(make):
    rows, steps = make(), BIASES[1]
    first, second, other = (rows.stream(steps, seed=seed) for seed in (0, 0, 1))
    for stream in (first, second, other):
        rows.send(stream, np.arange(200))
    np.testing.assert_array_equal(first.dual_coef, second.dual_coef)
    np.testing.assert_array_equal(first.machines[0].weights, second.machines[0].weights)
    assert not np.array_equal(first.dual_coef, other.dual_coef)


def test_rows_handed_in_are_not_written_to(make):
    rows, steps = make(), BIASES[1]
    stream = rows.stream(steps)
    given = rows.X[:50].copy(), rows.y[:50].copy(), rows.weight[:50].copy(), np.arange(50)
    before = [array.copy() for array in given]
    X, y, weight, ids = given
    stream.process(X, y, weight, rows.problems(y, weight), ids)
    rows.send(stream, np.arange(50), X=rows.X[:50] + 1.0)
    for array, old in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_banks_of_outputs_are_their_own(make):
    rows, steps = make("three classes"), BIASES[1]
    stream = rows.stream(steps)
    rows.send(stream, np.arange(200))
    banks = [machine.bank for machine in stream.machines]
    assert all(isinstance(bank, ConformalBank) for bank in banks)
    assert len({len(bank) for bank in banks} | {tuple(bank.gammas) for bank in banks}) > 1
