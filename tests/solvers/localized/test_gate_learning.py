"""J of a gate: its value, its gradient, and the descent on it."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons
from sklearn.svm import SVC, SVR

from nearlinear.gates.learned import GATES, Columns, Rounded, Softmax, Viewing
from nearlinear.kernels import Gaussian, Polynomial
from nearlinear.kernels.grams import Grams
from nearlinear.kernels.rows import GramRows
from nearlinear.solvers.localized.gate import GateObjective, learn_gate, rounded_machine
from nearlinear.solvers.machine.bias import FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine
from nearlinear.solvers.mixture.objective import KernelObjective
from nearlinear.solvers.watch import Watch

C, EPSILON = 2.0, 0.05
KERNELS = [Gaussian(1.0), Polynomial(1, gamma=0.5)]
OWNERS = np.array([0, 1, 1])  # copies of one kernel among others
TINY = 1e-11  # slopes by differences need machines solved far beyond what learning needs
each_gate = pytest.mark.parametrize("name", GATES)
each_task = pytest.mark.parametrize("task", ["classes", "values"])
each_penalty = pytest.mark.parametrize("penalty", [0.0, 0.3], ids=["free", "penalized"])
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


@pytest.fixture(scope="module")
def rows():
    X, y = make_moons(48, noise=0.25, random_state=0)
    return X, y, np.sin(3 * X[:, 0]) + X[:, 1]


@pytest.fixture
def prepare(rows):
    """Makes a GateObjective of one of the two tasks; ``unit`` is that of C and of values."""
    X, y, values = rows

    def make(
        task="classes",
        penalty=0.0,
        *,
        kernels=KERNELS,
        owners=OWNERS,
        form=np.asarray,
        unit=1.0,
        kind=GateObjective,
        **memory,
    ):
        costs = np.full(len(y), C * unit)
        if task == "classes":
            problem = DualProblem.of_signs(2 * y - 1, costs)
        else:
            problem = DualProblem.of_values(unit * values, costs, unit * EPSILON)
        Z = form(X)
        grams = Grams(kernels, Z, max_bytes=1e9)
        grams.keep(range(len(kernels)))
        learning = KernelObjective(grams, problem, FreeBias(), **memory)
        return kind(learning, np.asarray(owners), Z, penalty)

    return make


def start(name, X, n_components=3, seed=0):
    return GATES[name].start(X, n_components, np.random.RandomState(seed))


def gated_gram(X, gates, kernels=KERNELS, owners=OWNERS):
    """Σ_q γ_q(x) γ_q(z) k(x, z)."""
    return sum(np.outer(g, g) * kernels[m](X) for g, m in zip(gates.T, owners))


def best_dual_value(task, gram, rows):
    """max_a yᵀa − ε‖a‖₁ − ½ aᵀKa by LIBSVM."""
    _, y, values = rows
    coef = np.zeros(len(y))
    if task == "classes":
        machine = SVC(kernel="precomputed", C=C, tol=1e-8).fit(gram, y)
        coef[machine.support_] = machine.dual_coef_[0]
        return np.abs(coef).sum() - 0.5 * coef @ gram @ coef
    machine = SVR(kernel="precomputed", C=C, epsilon=EPSILON, tol=1e-8).fit(gram, values)
    coef[machine.support_] = machine.dual_coef_[0]
    return values @ coef - EPSILON * np.abs(coef).sum() - 0.5 * coef @ gram @ coef


@each_gate
@each_task
@each_form
def test_the_value_is_an_independent_optimum_for_the_gated_kernel(
    rows, prepare, name, task, as_rows
):
    gate = start(name, rows[0])
    value, _, machine = prepare(task, form=as_rows)(gate, 1e-8)
    best = best_dual_value(task, gated_gram(rows[0], gate(rows[0])), rows)
    assert value == pytest.approx(best, rel=1e-6)
    assert value == machine.dual_objective


def differences(objective, gate, step):
    """Central differences of J, one per parameter."""
    at = gate.parameters
    values = [
        [objective(gate.with_parameters(at + sign * unit), TINY)[0] for sign in (1.0, -1.0)]
        for unit in step * np.eye(len(at))
    ]
    return np.array([(above - below) / (2 * step) for above, below in values])


@each_gate
@each_task
@each_penalty
@each_form
def test_the_gradient_is_that_of_the_value(rows, prepare, name, task, penalty, as_rows):
    objective, gate = prepare(task, penalty, form=as_rows), start(name, rows[0])
    slopes = differences(objective, gate, 1e-4)
    _, gradient, _ = objective(gate, TINY)
    assert np.abs(slopes).max() > 0.1
    # J bends where a row reaches its bound, and rounding is divided by the step
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6 * np.abs(slopes).max())


def test_the_penalty_is_half_the_squared_parameters(rows, prepare):
    gate = start("softmax", rows[0])
    plain, slopes, _ = prepare()(gate, 1e-8)
    value, gradient, machine = prepare(penalty=0.7)(gate, 1e-8)
    assert value == pytest.approx(plain + 0.35 * (gate.parameters**2).sum(), rel=1e-7)
    np.testing.assert_allclose(gradient, slopes + 0.7 * gate.parameters, rtol=1e-4, atol=1e-6)
    assert machine.dual_objective == pytest.approx(plain, rel=1e-7)


@each_task
def test_rows_computed_on_demand_have_the_same_value_and_gradient(rows, prepare, task):
    gate, far = start("softmax", rows[0]), prepare(task, max_bytes=3000)
    value, gradient, _ = far(gate, 1e-6)
    expected, slopes, _ = prepare(task)(gate, 1e-6)
    assert value == pytest.approx(expected, rel=1e-5)
    # rows on demand are in single precision
    np.testing.assert_allclose(gradient, slopes, atol=0.01 * np.abs(slopes).max())


@each_task
def test_one_component_is_the_plain_machine(rows, prepare, task):
    X = rows[0]
    objective = prepare(task, kernels=[Gaussian(1.0)], owners=[0])
    found = learn_gate(objective, start("softmax", X, 1), tol=1e-7, max_iter=20)
    plain = solve_kernel_machine(
        GramRows(Gaussian(1.0)(X)), objective.objective.problem, FreeBias(), tol=1e-7
    )
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)
    # two solutions of one problem, each to its gap
    np.testing.assert_allclose(found.machine.dual_coef, plain.dual_coef, atol=1e-2)
    np.testing.assert_array_equal(found.gates, np.ones((48, 1)))


@each_task
def test_one_component_answers_as_libsvm(rows, prepare, task):
    X, y, values = rows
    objective = prepare(task, kernels=[Gaussian(1.0)], owners=[0])
    machine = learn_gate(objective, start("softmax", X, 1), tol=1e-8, max_iter=20).machine
    gram = Gaussian(1.0)(X)
    if task == "classes":
        svm = SVC(kernel="precomputed", C=C, tol=1e-8).fit(gram, y)
        expected = svm.decision_function(gram)
    else:
        svm = SVR(kernel="precomputed", C=C, epsilon=EPSILON, tol=1e-8).fit(gram, values)
        expected = svm.predict(gram)
    np.testing.assert_allclose(gram @ machine.dual_coef + machine.bias, expected, atol=1e-3)


@each_task
@pytest.mark.parametrize("owners", [[0, 1], [0, 1, 1, 0]], ids=["two", "four"])
def test_a_gate_that_is_equal_everywhere_is_the_mean_kernel(rows, prepare, task, owners):
    X, n_components = rows[0], len(owners)
    gate = Softmax(np.zeros((n_components, 2)), np.zeros(n_components))
    value, _, _ = prepare(task, owners=owners)(gate, 1e-8)
    mean = sum(kernel(X) for kernel in KERNELS) / 2
    assert value == pytest.approx(best_dual_value(task, mean / n_components, rows), rel=1e-6)


@each_task
def test_equal_gates_of_copies_have_equal_slopes(rows, prepare, task):
    gate = Softmax(np.ones((3, 2)), np.zeros(3))
    _, gradient, _ = prepare(task)(gate, 1e-8)
    directions = gradient[:-3].reshape(3, 2)
    np.testing.assert_allclose(directions[1], directions[2], rtol=1e-10)
    np.testing.assert_allclose(directions.sum(axis=0), 0.0, atol=1e-9)


class Recorded(GateObjective):
    """Remembers every gate it was asked for, and may be interrupted."""

    interrupt_at = None

    def __init__(self, *settings):
        super().__init__(*settings)
        self.values, self.gates = [], []

    def __call__(self, gate, tol):
        if len(self.values) == self.interrupt_at:
            raise KeyboardInterrupt
        value, gradient, machine = super().__call__(gate, tol)
        self.values.append(value)
        self.gates.append(gate)
        return value, gradient, machine


@each_gate
@each_task
@each_penalty
def test_the_value_never_rises_along_the_path(rows, prepare, name, task, penalty):
    recorded, gate = prepare(task, penalty, kind=Recorded), start(name, rows[0])
    found = learn_gate(recorded, gate, tol=1e-4, max_iter=15)
    assert 1 < len(found.path) <= 15
    exact = prepare(task, penalty)
    places = [recorded.values.index(value) for value in found.path]
    values = [exact(recorded.gates[place], 1e-8)[0] for place in places]
    begin = exact(gate, 1e-8)[0]
    for before, after in zip([begin, *values], values):
        assert after <= before * (1 + 1e-3)  # machines on the way are solved to 1e-3
    # what is written down is J itself, from below by at most its gap
    np.testing.assert_allclose(found.path, values, rtol=1e-3)
    assert np.all(np.diff(found.path) <= 0.0)
    assert found.path[-1] < 0.95 * begin


@each_gate
@each_task
def test_the_gate_of_the_least_value_is_kept(rows, prepare, name, task):
    recorded = prepare(task, kind=Recorded)
    found = learn_gate(recorded, start(name, rows[0]), tol=1e-4, max_iter=15)
    best = recorded.gates[int(np.argmin(recorded.values))]
    np.testing.assert_array_equal(found.gate.gate.parameters, best.parameters)
    assert min(recorded.values) <= found.path[-1]


class Misleading(Recorded):
    """Says from the fourth call on that J has doubled."""

    def __call__(self, gate, tol):
        value, gradient, machine = super().__call__(gate, tol)
        return (2.0 if len(self.values) > 3 else 1.0) * value, gradient, machine


def test_a_trial_that_leads_upwards_is_not_kept(rows, prepare):
    misleading = prepare(kind=Misleading)
    misleading.interrupt_at = 5  # in the midst of a search along a line
    watch = Watch()
    with pytest.raises(KeyboardInterrupt):
        learn_gate(misleading, start("sigmoid", rows[0]), tol=1e-6, max_iter=10, watch=watch)
    best = misleading.gates[int(np.argmin(misleading.values[:3]))]
    np.testing.assert_array_equal(watch.best.parameters, best.parameters)
    assert np.any(misleading.gates[-1].parameters != best.parameters)


@each_gate
@each_task
def test_the_machine_that_is_kept_belongs_to_the_rounded_gate(rows, prepare, name, task):
    X = rows[0]
    found = learn_gate(prepare(task), start(name, X), tol=1e-6, max_iter=15)
    np.testing.assert_array_equal(found.gates, found.gate(X))
    best = best_dual_value(task, gated_gram(X, found.gates), rows)
    assert found.objective == pytest.approx(best, rel=1e-5)
    assert 0.0 <= found.machine.gap <= 1e-6 * found.objective
    assert found.objective == found.machine.objective


@each_gate
def test_the_objective_is_that_of_the_machine_and_the_gates_penalty(rows, prepare, name):
    found = learn_gate(prepare(penalty=0.3), start(name, rows[0]), tol=1e-6, max_iter=15)
    penalty = 0.15 * (found.gate.gate.parameters**2).sum()
    assert found.objective == pytest.approx(found.machine.objective + penalty)
    # rounding moves J by little
    assert found.objective == pytest.approx(found.path[-1], rel=1e-2)


@each_task
def test_a_gate_that_is_all_but_hard_is_rounded_to_a_hard_one(rows, prepare, task):
    X = rows[0]
    gate = start("softmax", X)
    sharp = gate.with_parameters(1e4 * gate.parameters)
    found = learn_gate(prepare(task), sharp, tol=1e-6, max_iter=0)
    assert np.all((found.gates == 0.0) | (found.gates == 1.0))
    members = sharp(X).argmax(axis=1)
    np.testing.assert_array_equal(found.gates, np.eye(3)[members])
    # rows of different components have nothing to do with each other
    gram = np.array([kernel(X) for kernel in KERNELS])[OWNERS[members], np.arange(48)]
    gram = np.where(members[:, None] == members, gram, 0.0)
    assert found.objective == pytest.approx(best_dual_value(task, gram, rows), rel=1e-5)


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_the_margin_of_rounding_can_be_chosen(rows, prepare, margin):
    X = rows[0]
    gate = start("softmax", X)
    found = learn_gate(prepare(), gate, tol=1e-3, max_iter=0, margin=margin)
    assert found.gate == Rounded(gate, margin)
    assert np.any(gate(X) < 0.2)
    assert np.any(found.gates == 0.0) == (margin > 0.0)


def test_without_a_step_the_start_is_kept(rows, prepare):
    X = rows[0]
    gate, objective = start("softmax", X), prepare()
    found = learn_gate(objective, gate, tol=1e-6, max_iter=0)
    assert found.gate.gate is gate
    assert found.path == ()
    assert found.n_machines == 1


class Even:
    """A gate with nothing to learn."""

    parameters = np.zeros(0)

    def __call__(self, X):
        return np.full((X.shape[0], 3), 0.5)


def test_a_gate_without_parameters_gets_its_machine(rows, prepare):
    found = learn_gate(prepare(), Even(), tol=1e-6, max_iter=10)
    best = best_dual_value("classes", gated_gram(rows[0], np.full((48, 3), 0.5)), rows)
    assert found.objective == pytest.approx(best, rel=1e-5)
    assert found.path == ()


def test_a_gate_may_be_learned_on_what_it_sees(rows, prepare):
    X = rows[0]
    gate = Viewing(Softmax(), Columns((1,))).start(X, 3, np.random.RandomState(0))
    found = learn_gate(prepare(), gate, tol=1e-4, max_iter=10)
    assert found.path[-1] < found.path[0]
    elsewhere = X + np.array([5.0, 0.0])
    np.testing.assert_array_equal(found.gate(elsewhere), found.gate(X))


@each_form
@each_gate
def test_sparse_rows_are_learned_from(rows, prepare, name, as_rows):
    gate = start(name, rows[0])
    found = learn_gate(prepare(form=as_rows), gate, tol=1e-3, max_iter=3)
    assert found.path[-1] < 0.95 * prepare()(gate, 1e-6)[0]


def test_steps_are_reported_as_they_are_made(rows, prepare):
    seen = []
    found = learn_gate(
        prepare(), start("sigmoid", rows[0]), tol=1e-6, max_iter=5,
        watch=Watch(lambda progress: seen.append((progress.objective, progress.step))),
    )  # fmt: skip
    assert [step for _, step in seen] == [1, 2, 3, 4, 5]
    assert tuple(value for value, _ in seen) == found.path


def test_machines_are_counted(rows, prepare):
    recorded = prepare(kind=Recorded)
    found = learn_gate(recorded, start("softmax", rows[0]), tol=1e-4, max_iter=10)
    assert found.n_machines == len(recorded.values) + 1  # and that of the rounded gate


def test_a_penalty_keeps_the_gate_small(rows, prepare):
    sizes = []
    for penalty in (0.1, 10.0, 1e4):
        found = learn_gate(
            prepare(penalty=penalty), start("softmax", rows[0]), tol=1e-6, max_iter=30
        )
        sizes.append(np.linalg.norm(found.gate.gate.parameters))
    assert sizes[0] > 2.0 * sizes[1] > 4.0 * sizes[2]
    assert sizes[2] < 0.05


@pytest.mark.parametrize("unit", [1e-2, 1e-4, 1e4])
def test_the_unit_of_the_values_does_not_change_the_gate(rows, prepare, unit):
    # C, ε and values in another unit are the same problem, with J in that unit squared
    gate = start("softmax", rows[0])
    one = learn_gate(prepare("values"), gate, tol=1e-3, max_iter=20)
    other = learn_gate(prepare("values", unit=unit), gate, tol=1e-3, max_iter=20)
    assert other.objective / unit**2 == pytest.approx(one.objective, rel=0.02)


@each_task
@pytest.mark.parametrize("n_calls", [1, 3, 6])
def test_an_interrupt_keeps_the_best_gate_so_far(rows, prepare, task, n_calls):
    X = rows[0]
    recorded = prepare(task, kind=Recorded)
    recorded.interrupt_at = n_calls
    watch = Watch()
    with pytest.raises(KeyboardInterrupt):
        learn_gate(recorded, start("sigmoid", X), tol=1e-6, max_iter=50, watch=watch)
    found = rounded_machine(recorded, watch.best, watch, tol=1e-6)
    assert len(recorded.values) == n_calls
    best = recorded.gates[int(np.argmin(recorded.values))]
    np.testing.assert_array_equal(found.gate.gate.parameters, best.parameters)
    # and its machine is solved as if nothing had happened
    np.testing.assert_array_equal(found.gates, Rounded(best)(X))
    expected = best_dual_value(task, gated_gram(X, found.gates), rows)
    assert found.objective == pytest.approx(expected, rel=1e-5)


def test_an_interrupt_before_anything_is_known_is_passed_on(rows, prepare):
    recorded = prepare(kind=Recorded)
    recorded.interrupt_at = 0
    with pytest.raises(KeyboardInterrupt):
        learn_gate(recorded, start("softmax", rows[0]), tol=1e-6, max_iter=50)
