"""Laziness and threads of compiled code."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from nearlinear._compile import compiled, count_threads, one_blas_thread, run_blocks


@compiled
def _double(values):
    for i in range(len(values)):
        values[i] *= 2.0


@compiled
def _double_twice(values):
    _double(values)
    _double(values)


@pytest.mark.passes
def test_a_pass_may_call_another_of_its_file():
    values = np.arange(3.0)
    _double_twice(values)
    np.testing.assert_array_equal(values, [0.0, 4.0, 8.0])


@pytest.mark.passes
def test_a_pass_takes_both_precisions():
    for dtype in (np.float32, np.float64):
        values = np.ones(2, dtype=dtype)
        _double(values)
        np.testing.assert_array_equal(values, 2.0)


def test_numba_is_loaded_at_the_first_call_only():
    source = (
        "import sys, numpy as np\n"
        "from nearlinear.gates.blend import group_by_anchor\n"
        "before = 'numba' in sys.modules\n"
        "group_by_anchor(np.zeros((2, 1), dtype=np.int32), 1)\n"
        "print(before, 'numba' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert answer.stdout.split() == ["False", "True"], answer.stderr


@pytest.mark.parametrize(
    ("n_jobs", "expected"),
    [(None, 1), (1, 1), (3, 3), (-1, os.cpu_count()), (-2, max(1, os.cpu_count() - 1))],
)
def test_n_jobs_counts_as_in_scikit_learn(n_jobs, expected):
    assert count_threads(n_jobs) == expected


def test_n_jobs_below_all_cores_is_still_one_thread():
    assert count_threads(-1000) == 1


@pytest.mark.parametrize("n_jobs", [None, 2, 5])
def test_blocks_cover_all_rows_once_whatever_the_number_of_threads(n_jobs):
    seen = []
    run_blocks(lambda start, stop: seen.append((start, stop)), 10, 4, n_jobs)
    assert sorted(seen) == [(0, 4), (4, 8), (8, 10)]


def test_two_jobs_use_two_threads():
    both = threading.Barrier(2, timeout=30)  # passes only if two blocks wait at one time
    run_blocks(lambda start, stop: both.wait(), 2, 1, n_jobs=2)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_error_in_a_block_reaches_the_caller(n_jobs):
    def work(start, stop):
        raise ZeroDivisionError(f"block {start}")

    with pytest.raises(ZeroDivisionError, match="block 0"):
        run_blocks(work, 2, 1, n_jobs)


def test_no_rows_are_no_blocks():
    run_blocks(pytest.fail, 0, 4)


def test_matrix_products_use_one_thread_while_training():
    def blas_threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {2}


FORK_BESIDE_A_LIMIT = """
import os, threading, time
from nearlinear import _compile

begun, is_setting = threading.Event(), False

class Pools:
    def limit(self, **limits):
        global is_setting
        is_setting = True
        begun.set()
        time.sleep(0.3)  # as in OpenBLAS, which lets other threads of Python run
        is_setting = False
        raise SystemExit

_compile._thread_pools = Pools
threading.Thread(target=_compile.one_blas_thread().__enter__).start()
begun.wait()
child = os.fork()
if child == 0:
    os._exit(is_setting)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_waits_until_limits_are_set():
    source = [sys.executable, "-W", "ignore", "-c", FORK_BESIDE_A_LIMIT]
    answer = subprocess.run(source, capture_output=True, text=True, timeout=60)
    assert answer.stdout == "0\n", answer.stderr


def test_gates_with_compiled_passes_can_be_pickled(rng):
    from nearlinear.gates.anchors import SoftAssignment

    X = rng.standard_normal((5, 2))
    gate = SoftAssignment(X[:3], 2, 1.0)
    expected = gate(X)  # fills the cached geometry too
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(gate))(X), expected)
