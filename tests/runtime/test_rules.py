"""Rules: what estimators write passes, and every single lie about a predictor is refused."""

import numpy as np
import pytest
from grids import in_one_test
from runtime import crafted
from runtime.crafted import array_at, edited, items, make, part, put, put_array
from runtime.lies import lies

from nearlinear.runtime.container import ModelFileError
from nearlinear.runtime.model import model_of
from nearlinear.runtime.parts import parse
from nearlinear.runtime.rules import check_predictor


def check(header, arrays):
    return check_predictor(parse(header["predictor"], arrays), crafted.N_FEATURES)


@in_one_test("dtype", [np.float64, np.float32])
@in_one_test("name", crafted.MODELS)
def test_right_models_pass_and_are_asked_for_their_outputs(name, dtype):
    header, arrays = make(name, dtype)
    n_classes = 2 if header["classes"] is None else len(header["classes"]["items"])
    assert check(header, arrays) == (1 if n_classes == 2 else n_classes)


@in_one_test("name", crafted.MODELS)
def test_every_lie_about_a_predictor_is_refused(name):
    header, arrays = make(name)
    accepted, n_lies = [], 0
    for lie, edit in lies(header, arrays):
        n_lies += 1
        try:
            model_of(*edited(header, arrays, edit))
        except ModelFileError as error:
            assert "\n" not in str(error)
        else:
            accepted.append(lie)
    assert accepted == []
    assert n_lies > 50


def refused(name, edit, match):
    with pytest.raises(ModelFileError, match=match):
        model_of(*edited(*make(name), edit))


def test_nodes_of_no_outputs_take_no_memory():
    """An array without numbers may have any number of rows."""
    refused("unbalanced tree of IndicatorNode", crafted.nodes_of_nothing, "nowhere, back or twice")


def test_a_predictor_is_one_of_the_known_kinds():
    refused("gated linear", lambda header, arrays: header.update(predictor=crafted.GAUSSIAN),
            "predictor of the unknown kind 'Gaussian'")  # fmt: skip


@in_one_test("value", [None, 1, "LocallyLinear", [], items(), {"$": "array", "number": 0}])
def test_a_predictor_is_no_plain_value(value):
    refused("gated linear", lambda header, arrays: header.update(predictor=value), "unknown kind")


@in_one_test("kind", ["Affine", "Softmax", "SoftAssignment", "TanhNode"])
def test_parts_of_a_predictor_are_no_predictors(kind):
    refused("gated linear", lambda header, arrays: header["predictor"].update(kind=kind), kind)


@pytest.mark.parametrize("count", [5, 7, 15, 2**20 - 1])
@pytest.mark.parametrize("kind", ["of TanhNode", "of CompositionalNode", "with leaves"])
def test_a_tree_has_exactly_the_splits_of_its_nodes(kind, count):
    """A walk that finds more splits than there are leaves would leave the leaves' memory."""
    wanted = 7 if kind == "of CompositionalNode" else 3
    if count != wanted:
        splits = np.zeros((count, crafted.N_FEATURES + 1))
        refused(f"tree {kind}", put_array("splits", splits), "splits")


@pytest.mark.parametrize("count", [1, 3, 7])
def test_a_tree_without_slopes_has_none(count):
    slopes = np.zeros((count, crafted.N_FEATURES + 1))
    refused("tree of CompositionalNode", put_array("slopes", slopes), "slopes")


@pytest.mark.parametrize("n_nodes", [0, 2, 4, 5, 6, 8])
def test_a_tree_is_complete(n_nodes):
    def edit(header, arrays):
        for name, shape in (("weights", (n_nodes, 3, 4)), ("slopes", (n_nodes, 4))):
            put_array(name, np.zeros(shape))(header, arrays)
        put_array("splits", np.zeros((n_nodes // 2, 4)))(header, arrays)

    refused("tree of TanhNode", edit, "not complete")


@pytest.mark.parametrize("value", [1.0 + 1e-9, 2.0, -0.1])
def test_the_margin_of_a_rounded_gate_is_a_share(value):
    refused("gated linear", put("gate", "margin", value), "margin")


@pytest.mark.parametrize("degree", [0, 1.5, -2, 1001, 10**6])
def test_the_degree_of_a_polynomial_is_whole_and_moderate(degree):
    refused("Polynomial kernel", put("kernels", 0, "degree", degree), "degree|Polynomial")


@pytest.mark.parametrize("value", [0, 0.0])
@pytest.mark.parametrize("name", ["gamma", "width"])
def test_a_gaussian_has_a_width(name, value):
    refused("Gaussian kernel", put("kernels", 0, name, value), name)


def test_kernels_on_columns_see_only_their_own():
    inner = part("OnColumns", kernel=part("Linear"), columns=items(2))
    refused("OnColumns kernel", put("kernels", 0, "kernel", inner), "column")


def test_a_gate_sees_only_the_columns_of_its_view():
    def edit(header, arrays):
        header["predictor"]["fields"]["gate"]["fields"]["view"]["fields"]["columns"] = items(2)

    refused("Viewing gate", edit, "directions")


def test_a_gate_has_as_many_values_as_there_are_components():
    refused("Repeated gate", put("gate", "count", 3), "gate and components differ")

    def edit(header, arrays):
        for name in ("directions", "offsets"):
            put_array("gate", "gate", name, lambda array: array[:3])(header, arrays)

    refused("gated linear", edit, "weights")


@pytest.mark.parametrize("n_features, n_kernels", [(2, 4), (4, 4), (0, 7), (-1, 8), (7, 0), (3, 3)])
def test_a_pairwise_sum_has_a_gate_for_each_kernel_beside_its_features(n_features, n_kernels):
    listed = items(*[crafted.LINEAR] * n_kernels)
    kernel = part("PairwiseNormalizedSum", kernels=listed, n_features=n_features)
    refused("gated rows", put("predictor", "kernels", 0, kernel), "inconsistent|n_features")


def test_sums_and_expansions_have_kernels():
    empty = part("WeightedSum", kernels=items(), weights=items())
    refused("two kernels", put("kernels", 0, empty), "no kernels")

    def edit(header, arrays):
        put("kernels", items())(header, arrays)
        put_array("coefficients", lambda array: array[:0])(header, arrays)

    refused("two kernels", edit, "no kernels")


def test_members_of_an_average_have_the_same_outputs():
    def edit(header, arrays):
        tree = header["predictor"]["fields"]["members"]["items"][0]["fields"]
        shape = arrays[tree["weights"]["number"]].shape
        put_array("members", 0, "weights", np.zeros((shape[0], 2, shape[2])))(header, arrays)
        put_array("members", 0, "intercept", np.zeros(2))(header, arrays)

    refused("forest", edit, "members differ in outputs")


@in_one_test(
    "edit",
    [
        (put("weights", items(1.0)), "weights are odd"),
        (put("weights", 0, 0.0), "weights are odd"),
        (put("weights", 0, 1), "weights are odd"),
        (put("calibrations", items(part("LogLoss"))), "not all members are calibrated"),
        (put("calibrations", 1, None), "calibration of the unknown kind None"),
        (put("calibrations", 2, part("Sigmoids", slopes=1.0, offsets=1.0)), "wrong shape"),
        (put("members", items()), "of nothing"),
    ],
)
def test_every_member_of_an_average_has_a_weight_and_a_calibration(edit):
    refused("average of two classes", *edit)


def test_a_kernel_of_an_average_has_trees():
    other = make("average of two classes")

    def edit(header, arrays):
        arrays[:] = other[1]
        put("kernels", 0, "tree", other[0]["predictor"])(header, arrays)
        put_array("support", np.zeros((4, crafted.N_FEATURES)))(header, arrays)
        put_array("coefficients", np.zeros((1, 4, 3)))(header, arrays)
        put_array("biases", np.zeros(3))(header, arrays)

    refused("kernel of a tree", edit, "its trees are none")


@in_one_test(
    "edit",
    [
        ("firsts", [0, 1, 3, 5], "one knot alone"),
        ("firsts", [0, 3, 2, 5], "other knots"),
        ("firsts", [0, 3, 3, 6], "other knots"),
        ("firsts", [0.0, 3.0, 3.0, 5.0], "other knots"),
        ("knots", [-0.5, -0.5, 0.4, -0.2, 0.7], "not ascending"),
        ("knots", np.array([-0.5, 0.1, 0.4, -0.2, 0.7], np.float32), "several types"),
        ("values", np.zeros((4, 1)), "values has the wrong shape"),
    ],
)
def test_knots_of_a_column_ascend_and_are_two_at_least(edit):
    name, values, why = edit
    refused("average of two classes", put_array("members", 1, name, np.array(values)), why)


def test_stacked_parts_have_one_output_each():
    wide, wide_arrays = make("two kernels")

    def edit(header, arrays):
        arrays[:] = wide_arrays
        header["predictor"] = part("Stacked", outputs=items(wide["predictor"]))

    refused("stacked", edit, "several outputs|unknown kind")


@pytest.mark.parametrize(
    ("field", "values", "why"),
    [
        (("starts",), [0, 2, 1, 3, 5], "landmarks are out of order"),
        (("starts",), [0, 2, 2, 3, 6], "landmarks are out of order"),
        (("cells", "firsts"), [0, 4, 4], "a group has no cells"),
        (("cells", "firsts"), [1, 2, 4], "cells are out of order"),
    ],
)
def test_cells_and_landmarks_lie_side_by_side(field, values, why):
    refused("cells in groups", put_array(*field, np.array(values)), why)


def test_terms_of_a_conformal_machine_are_sorted_by_kernel():
    def edit(header, arrays):
        array_at(header, arrays, "kernels")[:] = [0, 1, 0, 2, 3, 3]

    refused("conformal, gaussian", edit, "out of order")


def test_a_model_without_outputs_is_refused():
    def edit(header, arrays):
        put_array("weights", np.zeros((5, crafted.N_FEATURES, 0)))(header, arrays)
        put_array("biases", np.zeros((5, 0)))(header, arrays)
        header["classes"] = []

    refused("soft anchors", edit, "no outputs")


def test_deep_kernels_are_refused_and_not_followed():
    kernel = crafted.GAUSSIAN
    for _ in range(2000):
        kernel = part("Scaled", kernel=kernel, factor=1.0)

    def edit(header, arrays):  # not through put, which would copy that deep
        header["predictor"]["fields"]["kernels"]["items"][0] = kernel

    refused("two kernels", edit, "nested too deeply")


# --- forests ------------------------------------------------------------------------------------

SPLITS = "forest of splits"


@in_one_test(
    "name, values, why",
    [
        ("children", [1, 3, 0, 5, 1, 2, 3, 7, 4, 5], "point nowhere, back or twice"),  # itself
        ("children", [1, 3, 0, 1, 1, 2, 3, 8, 4, 5], "point nowhere, back or twice"),  # back
        ("children", [3, 3, 0, 5, 1, 2, 3, 8, 4, 5], "point nowhere, back or twice"),  # twice
        ("children", [1, 3, 0, 8, 1, 2, 3, 5, 4, 5], "point nowhere, back or twice"),  # other tree
        ("children", [1, 3, 1, 5, 0, 2, 3, 8, 4, 5], "leaves are out of order"),
        ("starts", [0, 10, 10], "trees are out of order"),
        ("starts", [0, 7, 9], "trees are out of order"),
        ("columns", [1, 4, -1, 2, -1, -1, -1, 0, -1, -1], "columns point nowhere"),
        ("sets", [-1, -1, 0, 0, -1, -1, -1, -1, -1, -1], "a leaf has a set"),
        ("sets", [-1, -1, -1, 1, -1, -1, -1, -1, -1, -1], "sets point nowhere"),
    ],
)
def test_every_path_of_a_forest_ends_at_a_leaf_of_its_own(name, values, why):
    refused(SPLITS, put_array("gate", name, np.array(values, dtype=np.int32)), why)


def test_a_forest_has_values_for_one_output_or_for_all():
    refused(SPLITS, put_array("values", np.zeros((6, 2))), "values of other outputs")
    refused(SPLITS, put_array("outputs", np.array([0, 3], dtype=np.int32)), "outputs point")
    refused(SPLITS, put("gate", "n_features", crafted.N_FEATURES - 1), "n_features")
    refused(SPLITS, put_array("covers", np.full(6, -1.0, dtype=np.float32)), "covers")


def test_the_levels_of_a_forest_are_counted():
    """A chain of so many splits would be a walk without end."""

    def chain(n_splits):
        def edit(header, arrays):
            n_nodes = 2 * n_splits + 1
            numbers = np.arange(n_nodes, dtype=np.int32)
            columns = np.where((numbers % 2 == 0) & (numbers < n_nodes - 1), 0, -1).astype(np.int32)
            children = numbers + 1  # the second child of a split is the next one
            children[columns < 0] = np.arange(n_splits + 1)
            new = {"columns": columns, "children": children, "sets": np.zeros(0, np.int32)}
            new |= {"starts": np.array([0, n_nodes], np.int32), "thresholds": np.zeros(n_nodes)}
            new |= {"missing_left": np.zeros(n_nodes, np.uint8)}
            for name, values in new.items():
                put_array("gate", name, values)(header, arrays)
            empty = {**crafted.Draft.array(_into(arrays), np.zeros((0, 1), int)), "as": "<u4"}
            put("gate", "categories", empty)(header, arrays)
            put_array("values", np.zeros((n_splits + 1, 1)))(header, arrays)
            put_array("slopes", np.zeros((n_splits + 1, 1, 0)))(header, arrays)
            put_array("covers", np.zeros(n_splits + 1, np.float32))(header, arrays)
            put_array("outputs", np.zeros(1, np.int32))(header, arrays)

        return edit

    model_of(*edited(*make(SPLITS), chain(9_999)))
    refused(SPLITS, chain(10_000), "more than 10000 levels")


def _into(arrays):
    draft = crafted.Draft()
    draft.arrays = arrays
    return draft
