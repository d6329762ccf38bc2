"""MWUMKL on a9a as CSR: its memory beside rows × kernels and beside one Gram matrix."""

from benchmarks.bench_fit import in_child
from benchmarks.bench_scaling import exponent
from benchmarks.kernel_fit_child import KERNELS, TOL, C
from benchmarks.kernel_sets import SHAPES, origin
from benchmarks.quiet import disturbance, say_load, timed
from benchmarks.report import FOLDER, Result, publish

ALL_ROWS = SHAPES["a9a"][0]
SIZES = (ALL_ROWS // 4, ALL_ROWS // 2, ALL_ROWS)
SMOKE_SIZES = (400, 800)


def fit_in_child(n_rows):
    print(f"  {n_rows} rows ...", flush=True)
    arguments = ["mwu", "--rows", str(n_rows)]
    return timed(lambda: in_child(*arguments, n_threads=1, module="benchmarks.kernel_fit_child"))


def run(smoke=False, folder=FOLDER):
    say_load()
    sizes = SMOKE_SIZES if smoke else SIZES
    took = [fit_in_child(n_rows) for n_rows in sizes]
    results = []
    for n_rows, each in zip(sizes, took):
        found, title = each.value, f"a9a, {n_rows} rows, CSR, {len(KERNELS)} kernels, tol {TOL:g}"
        beyond = found["beyond_data"]
        note = f"C {C:g}, {found['seconds']:.0f} s on one thread, {found['n_support']} support rows"
        note += origin("a9a") + disturbance(each.others)
        results.append(Result(title, "memory beyond the data", beyond / 1e6, "MB", note=note))
        least = 8 * n_rows * len(KERNELS)
        note = f"{least / 1e6:.1f} MB"
        results.append(
            Result(title, "the same / (rows × kernels × 8 bytes)", beyond / least, "×", note=note)
        )
        matrix = 4 * n_rows**2
        note = f"{matrix / 1e6:.0f} MB in single precision"
        results.append(
            Result(title, "the same / one n × n matrix", beyond / matrix, "×", note=note)
        )
        gap = found["gap"]
        weights = ", ".join(f"{weight:.2f}" for weight in found["weights"])
        results.append(
            Result(title, "relative duality gap", gap, target=TOL, note=f"weights {weights}")
        )
    bytes_taken = [each.value["beyond_data"] for each in took]
    power = exponent(sizes, bytes_taken)
    growth = (bytes_taken[-1] - bytes_taken[0]) / (sizes[-1] - sizes[0])
    note = f"{growth:.0f} bytes for each further row"
    results.append(Result("a9a, CSR", "exponent of memory in rows", power, target=1.1, note=note))
    return results


if __name__ == "__main__":
    publish("mwu", run())
