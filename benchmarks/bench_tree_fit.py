"""Training trees: seconds, memory beyond the data, and how both grow with the rows."""

from dataclasses import dataclass

from benchmarks.bench_fit import GIGABYTE, in_child
from benchmarks.bench_scaling import exponent
from benchmarks.report import FOLDER, Result, publish
from reproduce import datasets

SHARES = (0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Case:
    """A set to train on; seconds and gigabytes are what is asked for at most."""

    name: str
    n_threads: int
    most_seconds: float
    most_gigabytes: float | None = None


CASES = (
    Case("ijcnn1", n_threads=1, most_seconds=30),
    Case("covertype", n_threads=2, most_seconds=360, most_gigabytes=1),
)


def fit_in_child(case, share, smoke):
    print(f"  {case.name}, {share:.0%} of the training rows ...", flush=True)
    arguments = [case.name, "--share", str(share), "--jobs", str(case.n_threads)]
    arguments += ["--smoke"] if smoke else []
    return in_child(*arguments, n_threads=case.n_threads, module="benchmarks.tree_fit_child")


def results_for(case, smoke):
    took = [fit_in_child(case, share, smoke) for share in SHARES]
    whole = took[-1]
    title = f"{case.name}, {whole['n_rows']} rows, threads: {case.n_threads}"
    note = f"depth {whole['depth']}, {whole['epochs']} epochs, "
    if datasets.is_available(case.name):
        note += f"accuracy {whole['accuracy']:.2f} %"
    else:
        note += "drawn rows of this shape"
    yield Result(title, "LDKL.fit", whole["seconds"], "s", target=case.most_seconds, note=note)
    beyond = whole["beyond_data"] / GIGABYTE
    yield Result(title, "memory beyond the data", beyond, "GB", target=case.most_gigabytes)
    sizes = [part["n_rows"] for part in took]
    power = exponent(sizes, [part["seconds"] for part in took])
    note = ", ".join(f"{part['seconds']:.1f} s" for part in took)
    yield Result(title, "exponent of seconds in rows", power, target=1.1, note=note)
    megabytes = ", ".join(f"{part['beyond_data'] / 1e6:.0f} MB" for part in took)
    growth = (took[-1]["beyond_data"] - took[0]["beyond_data"]) / (sizes[-1] - sizes[0])
    yield Result(title, "memory for each further row", growth, "bytes", note=megabytes)


def run(smoke=False, folder=FOLDER):
    return [result for case in CASES for result in results_for(case, smoke)]


if __name__ == "__main__":
    publish("tree_fit", run())
