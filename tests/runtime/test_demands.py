"""Files that ask for more than they hold: refused before memory is touched or taken."""

import json
import os

import numpy as np
import pytest
from grids import in_one_test
from runtime import crafted
from runtime.child import limit_memory, run_child
from runtime.crafted import at, edited, make, put, put_array, put_top, table

import nearlinear
from nearlinear import runtime
from nearlinear.runtime import ModelFileError
from nearlinear.runtime.container import to_bytes, write

LOAD_AND_SCORE = """
import sys, warnings
import numpy as np
import nearlinear
from nearlinear import runtime

warnings.simplefilter("ignore")
X = np.random.default_rng(0).standard_normal((300, 3))
good, *bad = sys.argv[1:]
nearlinear.load(good).predict(X)
runtime.load(good).predict(X)
{limit}
for path in bad:
    print(path, flush=True)
    for load in (runtime.load, nearlinear.load):
        try:
            load(path).predict(X)
        except runtime.ModelFileError as error:
            assert "\\n" not in str(error) and len(str(error)) < 300
        else:
            print("SCORED by", load.__module__)
"""


def assert_refused(tmp_path, files):
    """Both readers refuse all files, in a process that may take 256 MB more."""
    good = tmp_path / "good.nlm"
    good.write_bytes(crafted.file_of("sparse support"))
    paths = [tmp_path / f"{name}.nlm" for name in files]
    for path, (name, edit) in zip(paths, files.values(), strict=True):
        path.write_bytes(crafted.file_of(name, edit))
    printed = run_child(LOAD_AND_SCORE.format(limit=limit_memory(1 << 28)), good, *paths)
    assert printed.split("\n") == [*map(str, paths), ""]


# --- sparse rows --------------------------------------------------------------------------------

WRAPS = np.array([0, 2**63 - 1, -(2**63), -1, 5])  # every difference is positive, modulo 2^64
BEYOND = np.array([0, 2**40, 2**40, 2**40, 5])


def with_starts(starts):
    def edit(header, arrays):
        arrays[header["predictor"]["fields"]["support"]["indptr"]["number"]] = starts

    return edit


def with_starts_in(where, name):
    def edit(header, arrays):
        arrays.append(WRAPS)
        rows = at(header["predictor"], "support")
        rows = rows | {"indptr": {"$": "array", "number": len(arrays) - 1}}
        header[where] = table(**{name: rows})

    return edit


def test_starts_of_sparse_rows_stay_inside(tmp_path):
    files = {"wrap": with_starts(WRAPS), "beyond": with_starts(BEYOND)}
    files |= {"parameter": with_starts_in("parameters", "kernels")}
    assert_refused(tmp_path, {name: ("sparse support", edit) for name, edit in files.items()})
    path = tmp_path / "attribute.nlm"  # which only one reader looks at
    path.write_bytes(crafted.file_of("sparse support", with_starts_in("attributes", "any_")))
    with pytest.raises(ModelFileError, match="sparse rows are damaged"):
        nearlinear.load(path)


# --- memory -------------------------------------------------------------------------------------


def add_strings(header, arrays):
    header["attributes"] = table(any_={"$": "strings", "items": ["x" * 100_000, *[""] * 20_000]})


def add_references(header, arrays):
    arrays.append(np.zeros(1 << 19))
    again = {"$": "array", "number": len(arrays) - 1, "as": "<f2"}
    header["attributes"] = table(any_=[again] * 600)


def add_sparse_references(header, arrays):
    arrays += [np.zeros(1 << 18), np.zeros(1 << 18, np.int32), np.array([0, 1 << 18])]
    names = dict(zip(("data", "indices", "indptr"), range(len(arrays) - 3, len(arrays))))
    rows = {name: {"$": "array", "number": number} for name, number in names.items()}
    header["attributes"] = table(any_=[{"$": "csr", "shape": [1, 1], **rows}] * 600)


def add_lists(header, arrays):
    header["record"] = {"any": [[]] * 4_000_000}


def read_one_column_often(header, arrays):
    columns = {"$": "tuple", "items": [0] * 1_000_000}
    kernel = crafted.part("OnColumns", kernel=crafted.GAUSSIAN, columns=columns)
    put("kernels", 0, kernel)(header, arrays)


def repeat_gates(header, arrays):
    gate = at(header["predictor"], "map", "gate")
    put("map", "gate", crafted.part("Repeated", gate=gate, count=1 << 18))(header, arrays)
    kernels = crafted.items(crafted.part("Linear"))
    put("predictor", "kernels", kernels)(header, arrays)
    put_array("predictor", "support", np.zeros((0, 3 + (4 << 18))))(header, arrays)
    put_array("predictor", "coefficients", np.zeros((1, 0, 1)))(header, arrays)


def ask_for_wide_rows(header, arrays):
    header["n_features"] = 1 << 30
    put_array("support", np.zeros((0, 1 << 30)))(header, arrays)
    put_array("coefficients", np.zeros((1, 0, 3)))(header, arrays)


def ask_for_all_anchors(header, arrays):
    put_array("gate", "anchors", np.zeros((20_000, 3)))(header, arrays)
    put_array("weights", np.zeros((20_000, 0, 1)))(header, arrays)
    put_array("biases", np.zeros((20_000, 1)))(header, arrays)
    put("gate", "n_neighbors", 20_000)(header, arrays)


BOMBS = {
    "padded strings": ("Gaussian kernel", add_strings),
    "one array as many": ("Gaussian kernel", add_references),
    "sparse rows as many": ("Gaussian kernel", add_sparse_references),
    "lists in lists": ("Gaussian kernel", add_lists),
    "one column as many": ("Gaussian kernel", read_one_column_often),
    "one gate as many": ("gated rows", repeat_gates),
    "features without a number": ("Gaussian kernel", ask_for_wide_rows),
    "a matrix of all anchors": ("reconstruction codes", ask_for_all_anchors),
}


def test_a_file_cannot_ask_for_more_than_it_is(tmp_path):
    assert_refused(tmp_path, BOMBS)


def test_wide_sparse_support_is_no_bomb(tmp_path):
    """Hashed features: the support rows would take 1.5 GB as a matrix, and are honest."""
    n_rows, width = 400, 1 << 19

    def edit(header, arrays):
        header["n_features"] = width
        indices = np.arange(n_rows) * 7
        for name, values in zip(_CSR, (np.ones(n_rows), indices, np.arange(n_rows + 1))):
            arrays[header["predictor"]["fields"]["support"][name]["number"]] = values
        header["predictor"]["fields"]["support"]["shape"] = [n_rows, width]
        put_array("coefficients", np.ones((2, n_rows, 3)))(header, arrays)

    (tmp_path / "wide.nlm").write_bytes(to_bytes(*edited(*make("sparse support"), edit)))
    source = f"""
import sys, numpy as np
from nearlinear.runtime import load
{limit_memory(1 << 29)}
X = np.zeros((2, {width}))
X[0, 7] = 1.0
print(np.diff(load(sys.argv[1]).decision_function(X), axis=0))
"""
    printed = run_child(source, tmp_path / "wide.nlm")
    assert np.all(np.isfinite(json.loads(",".join(printed.split()).replace("[,", "["))))


_CSR = ("data", "indices", "indptr")


def test_what_nobody_could_load_is_not_written(tmp_path):
    header, arrays = edited(*make("Gaussian kernel"), add_strings)
    with pytest.raises(ModelFileError, match="too much memory"):
        write(tmp_path / "model.nlm", header, arrays)
    assert list(tmp_path.iterdir()) == []


def test_a_file_starts_no_more_threads_than_there_are_processors(tmp_path):
    path = tmp_path / "model.nlm"
    path.write_bytes(crafted.file_of("soft anchors", put_top("parameters", table(n_jobs=10**9))))
    assert nearlinear.load(path).n_jobs <= os.cpu_count()


# --- numbers ------------------------------------------------------------------------------------


def halve(*path):
    """An edit that keeps an array of the predictor in half precision."""
    *path, last = path

    def edit(header, arrays):
        at(header["predictor"], *path)["fields"][last]["as"] = "<f2"

    return edit


def without_components(header, arrays):
    for path, values in (
        (("components", "coefficients"), np.zeros((0, 5))),
        (("components", "biases"), np.zeros(0)),
        (("gate", "directions"), np.zeros((0, 3))),
        (("gate", "offsets"), np.zeros(0)),
    ):
        put_array(*path, values)(header, arrays)
    put("components", "owners", crafted.items())(header, arrays)


def stack_conformal_models(header, arrays):
    draft = crafted.Draft()
    draft.arrays = arrays
    one = crafted.MODELS["conformal, gaussian"](draft)
    arrays[one["fields"]["biases"]["number"]] = np.zeros(1)
    arrays[one["fields"]["outputs"]["number"]][:] = 0
    header["predictor"] = crafted.part("Stacked", outputs=crafted.items(one, one, one))


STRANGE = {
    "half precision": ("soft anchors", halve("weights")),
    "half precision in a gate": ("soft anchors", halve("gate", "anchors")),
    "half precision in sparse rows": ("sparse support", halve("coefficients")),
    "no components": ("Softmax gate", without_components),
    "stacked conformal models": ("stacked", stack_conformal_models),
    "indices of a byte": (
        "conformal, square", put_array("kernels", lambda array: array.astype(np.int8)),
    ),
}  # fmt: skip


@in_one_test("name, edit", STRANGE.values())
def test_what_no_fit_leaves_is_refused_when_it_is_loaded(name, edit, tmp_path):
    path = tmp_path / "model.nlm"
    path.write_bytes(crafted.file_of(name, edit))
    for load in (runtime.load, nearlinear.load):
        with pytest.raises(ModelFileError):
            load(path)


def test_scores_that_are_no_numbers_are_an_error(tmp_path):
    """Every number of the file is finite, and their sum is not."""
    path = tmp_path / "model.nlm"
    path.write_bytes(crafted.file_of("two kernels", put_array("coefficients", lambda a: a * 1e308)))
    X = 1e3 * np.ones((3, crafted.N_FEATURES))
    for load in (runtime.load, nearlinear.load):
        with pytest.raises(ValueError, match="The scores of row 0 are not finite"):
            load(path).predict(X)
