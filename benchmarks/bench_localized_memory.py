"""Memory of localized machines solved from Gram columns, against rows of a9a, with a picture.

Beside them stand the same methods by pair steps, which hold Gram matrices, and what the papers
count: one number for every row and kernel. A few steps of a gate need the memory of many.
"""

import numpy as np

from benchmarks.bench_fit import in_child
from benchmarks.bench_scaling import exponent
from benchmarks.kernel_sets import origin
from benchmarks.localized_fit_child import TITLES
from benchmarks.quiet import disturbance, say_load, timed
from benchmarks.report import FOLDER, Result, publish

SIZES = (1000, 2000, 4000, 8000)
METHODS = {"lmkl": ["--max-iter", "2"], "clmkl": [], "swmkl": []}
SMOKE_SIZES, SMOKE_METHODS = (200, 400), ("swmkl",)
SOLVERS = ("mwu", "smo")
COLORS = {"lmkl": "C3", "clmkl": "C0", "swmkl": "C2"}
LINES = {"mwu": {"linestyle": "-"}, "smo": {"linestyle": "--", "markerfacecolor": "none"}}
N_KERNELS = 3
MOST_EXPONENT = 1.2


def fit_in_child(method, solver, n_rows):
    print(f"  {TITLES[method]}, {solver}, {n_rows} rows ...", flush=True)
    arguments = [method, "--rows", str(n_rows), "--solver", solver, *METHODS[method]]
    return timed(lambda: in_child(*arguments, n_threads=1, module="benchmarks.localized_fit_child"))


def least_bytes(n_rows):
    """One double for every row and kernel."""
    return 8 * n_rows * N_KERNELS


def matrix_bytes(n_rows):
    """One Gram matrix in single precision."""
    return 4 * n_rows**2


def results_for(method, solver, sizes, took):
    taken = [each.value["beyond_data"] for each in took]
    for n_rows, each, beyond in zip(sizes, took, taken):
        found = each.value
        note = (
            f"{beyond / least_bytes(n_rows):.0f} × (rows × kernels × 8 bytes), "
            f"{beyond / matrix_bytes(n_rows):.2g} × one n × n matrix in single precision; "
            f"{found['cpu_seconds']:.1f} CPU seconds, gap {found['gap']:.1e}"
        )
        yield Result(
            f"a9a, {n_rows} rows, CSR, {N_KERNELS} kernels",
            f"{TITLES[method]} ({solver}), memory beyond the data",
            beyond / 1e6,
            "MB",
            note=note + origin("a9a") + disturbance(each.others),
        )
    growth = (taken[-1] - taken[0]) / (sizes[-1] - sizes[0])
    yield Result(
        "a9a, CSR",
        f"{TITLES[method]} ({solver}), exponent of memory in rows",
        exponent(sizes, taken),
        target=MOST_EXPONENT if solver == "mwu" else None,
        note=f"{growth:.0f} bytes for each further row",
    )


def draw(sizes, measured, folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7.2, 5), layout="constrained")
    rows, megabyte = np.array(sizes, float), 1e6
    for (method, solver), taken in measured.items():
        style = {"marker": "o", "color": COLORS[method]} | LINES[solver]
        label = f"{TITLES[method]}, {solver}: exponent {exponent(sizes, taken):.2f}"
        axis.loglog(rows, np.array(taken) / megabyte, label=label, **style)
    axis.loglog(rows, matrix_bytes(rows) / megabyte, ":", color="0.3", label="one n × n matrix")
    axis.loglog(
        rows, least_bytes(rows) / megabyte, "-.", color="0.6", label="rows × kernels × 8 bytes"
    )
    axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axis.minorticks_off()
    axis.grid(alpha=0.3)
    axis.set(xlabel="rows of a9a", ylabel="memory of a fit beyond the data (MB)")
    axis.set_title(f"{N_KERNELS} kernels; mwu: from Gram columns, smo: by pair steps")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    folder.mkdir(exist_ok=True)
    figure.savefig(folder / "localized_memory.png", dpi=120)
    plt.close(figure)


def run(smoke=False, folder=FOLDER):
    say_load()
    sizes, methods = (SMOKE_SIZES, SMOKE_METHODS) if smoke else (SIZES, METHODS)
    results, measured = [], {}
    for solver in SOLVERS:
        for method in methods:
            took = [fit_in_child(method, solver, n_rows) for n_rows in sizes]
            measured[method, solver] = [each.value["beyond_data"] for each in took]
            results += results_for(method, solver, sizes, took)
    draw(sizes, measured, folder)
    return results


if __name__ == "__main__":
    publish("localized_memory", run())
