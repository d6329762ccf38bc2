"""What a configuration says about a method on a data set."""

from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from reproduce.study import Study


def test_a_data_set_overrules_what_all_share_and_the_choice_overrules_both(study):
    assert study.parameters_for("linear", "sines") == {"C": 1.0, "tol": 0.01}
    assert study.parameters_for("linear", "digits") == {"C": 0.5, "tol": 0.1}
    assert study.base_for("linear", "digits") == {"C": 1.0, "tol": 0.1}
    assert study.grid_for("linear", "sines") == {"C": [0.001, 1.0]}
    assert study.grid_for("linear", "digits") == {"C": [0.1]}


def test_a_method_like_another_differs_where_it_says_so(study):
    entry = {"like": "linear", "common": {}, "common_for": {"sines": {"C": 7.0}}}
    study.config["methods"]["kernel"] = entry
    assert study.parameters_for("kernel", "sines") == {"C": 7.0, "tol": 0.01}
    assert study.parameters_for("kernel", "digits") == {"C": 0.5, "tol": 0.1}


def test_a_folder_may_hold_several_studies(study):
    text = "[other]\nseeds = 7\n[other.datasets]\nsines = { scaling = 'standard' }\n"
    (study.folder / "config.toml").write_text(text)
    other = Study(study.folder, study.makers, study.titles, section="other")
    assert other.config["seeds"] == 7
    assert list(other.config["datasets"]) == ["sines"]


def test_none_is_written_as_a_word(study):
    assert study.parameters_for("kernel", "sines") == {"C": 10.0, "class_weight": None}


def test_what_the_configuration_leaves_open_is_completed(study):
    def complete(method, parameters, dataset):
        return parameters | {"max_iter": len(dataset)}

    completed = Study(study.folder, study.makers, study.titles, complete=complete)
    assert completed.parameters_for("linear", "digits")["max_iter"] == 6


def test_regressions_have_methods_of_their_own(study):
    assert study.methods_for("friedman") == ["ridge"]
    assert study.methods_for("sines") == ["linear", "kernel"]
    assert isinstance(study.build("ridge", {}, seed=0, regression=True), Ridge)


def test_a_method_that_names_its_data_sets_is_run_on_no_others(study):
    study.config["methods"]["kernel"]["datasets"] = ["digits"]
    assert study.methods_for("sines") == ["linear"]
    assert study.methods_for("digits") == ["linear", "kernel"]


def test_every_seed_inside_a_pipeline_is_set(study):
    def make(C):
        return make_pipeline(StandardScaler(), LinearSVC(C=C))

    pipelines = Study(study.folder, {"linear": make}, {})
    assert pipelines.build("linear", {"C": 1.0}, seed=7)[-1].random_state == 7


def test_seeds_are_limited_by_the_data_set_and_one_where_nothing_is_drawn(study):
    assert list(study.seeds_for("kernel", "digits", 5)) == [0, 1]
    assert list(study.seeds_for("kernel", "sines", 5)) == [0, 1, 2, 3, 4]
    # The makers of banana did not divide it: every seed has other rows.
    assert list(study.seeds_for("linear", "sines", 5)) == [0]
    assert list(study.seeds_for("linear", "banana", 2)) == [0, 1]


def test_a_data_set_may_have_fewer_test_rows(study):
    study.config["datasets"]["sines"]["test_rows"] = 30
    assert len(study.load_split("sines", seed=0).y_test) == 30


def test_a_method_may_ask_for_double_precision(study):
    split = study.load_split("sines", seed=0)
    study.config["methods"]["linear"]["dtype"] = "float64"
    double = study.limited(split, "linear")
    assert (double.X_train.dtype, double.X_test.dtype) == (float, float)
    assert (double.X_train == split.X_train).all()
    assert study.limited(split, "kernel").X_train.dtype == "float32"


def test_slow_methods_see_fewer_rows(study):
    split = study.load_split("sines", seed=0)
    assert len(study.limited(split, "kernel").y_test) == 20
    assert len(study.limited(split, "linear").y_test) == len(split.y_test)
    assert study.tuning_rows("digits", "kernel") == 90
    assert study.tuning_rows("digits", "linear") == 100
    assert study.tuning_rows("sines", "linear") is None
