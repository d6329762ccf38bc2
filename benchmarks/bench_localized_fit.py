"""Training localized kernel machines on the paper's small sets, beside the seconds it prints.

Three kernels of unit diagonal, C 1, one thread. Seconds are the processor's: on a machine that is
shared they say more than the clock, which is in the note.
"""

import warnings
from functools import partial

from benchmarks.kernel_sets import origin
from benchmarks.localized_fit_child import MAKERS, SHAPES, TITLES, localized_model, small_split
from benchmarks.quiet import best_of, say_load
from benchmarks.report import FOLDER, Result, publish
from reproduce.protocol import one_thread
from reproduce.report import printed
from reproduce.unified_lkl.methods import STUDY

MOST_SECONDS = 2.0


def results_for(name, in_print, smoke):
    print(f"  {name} ...", flush=True)
    split = small_split(name, smoke)
    X, y = split.X_train, split.y_train
    models = {method: localized_model(method, X.shape[1]) for method in MAKERS}
    fits = {method: partial(model.fit, X, y) for method, model in models.items()}
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fit in fits.values():
            fit()  # compiles
        took = best_of(fits, repeats=1 if smoke else 5, key="cpu_seconds")
    for method, model in models.items():
        gap = model.duality_gap_ / model.objective_
        accuracy = 100 * model.score(split.X_test, split.y_test)
        note = f"{took[method].seconds:.2f} s by the clock, gap {gap:.1e}, "
        note += f"test accuracy {accuracy:.1f} %, {_paper(in_print, method, name)}" + origin(name)
        yield Result(
            f"{name}, {len(y)} × {X.shape[1]}, one thread",
            f"{TITLES[method]}.fit, CPU",
            took[method].cpu_seconds,
            "s",
            target=MOST_SECONDS,
            note=note,
        )


def _paper(in_print, method, name):
    if ("fit_seconds", method, name) not in in_print:
        return "not in print"
    seconds, accuracy = (
        in_print[quantity, method, name][0] for quantity in ("fit_seconds", "accuracy")
    )
    return f"in print {seconds:g} s, {accuracy:g} %"


def run(smoke=False, folder=FOLDER):
    say_load()
    in_print = printed(STUDY)
    return [result for name in SHAPES for result in results_for(name, in_print, smoke)]


if __name__ == "__main__":
    publish("localized_fit", run())
