"""Fitted forests, and the predictors that others make of them: {title: function of rows}."""

import importlib.util
import tempfile
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

# Compilers of trees write code for every node: beyond this it takes them many minutes.
MOST_COMPILED_LEAVES = 20_000


def has(*modules):
    return all(importlib.util.find_spec(module) is not None for module in modules)


def forests(smoke):
    """(title, model, training rows) of what is fitted."""
    few = smoke and 5
    n_rows = 500 if smoke else 100_000
    if has("lightgbm"):
        from lightgbm import LGBMClassifier

        shared = {"n_jobs": 1, "verbose": -1, "random_state": 0}
        yield "LightGBM 100 × 31", LGBMClassifier(n_estimators=few or 100, **shared), n_rows
        deep = LGBMClassifier(n_estimators=few or 20, num_leaves=4095, learning_rate=0.4, **shared)
        yield "LightGBM 20 × 4095", deep, n_rows
    yield (
        "HistGradientBoosting 100 × 31",
        HistGradientBoostingClassifier(max_iter=few or 100, early_stopping=False, random_state=0),
        n_rows,
    )
    if has("xgboost"):
        from xgboost import XGBClassifier

        boosted = XGBClassifier(n_estimators=few or 100, max_depth=6, n_jobs=1, random_state=0)
        yield "XGBoost 100 × depth 6", boosted, n_rows
    grown = RandomForestClassifier(few or 100, n_jobs=1, random_state=0)
    yield "RandomForest 100", grown, n_rows
    if has("catboost"):
        from catboost import CatBoostClassifier

        oblivious = CatBoostClassifier(
            iterations=few or 500, depth=6, thread_count=1, verbose=0, random_seed=0,
            allow_writing_files=False,
        )  # fmt: skip
        yield "CatBoost 500 × depth 6", oblivious, n_rows


def own_predictor(title, model):
    """The library's own raw scores, in the way that it is quickest."""
    library = title.split()[0]
    if library == "LightGBM":
        return lambda X: model.booster_.predict(X, raw_score=True, num_threads=1)
    if library == "XGBoost":
        booster = model.get_booster()
        booster.set_param({"nthread": 1})
        return lambda X: booster.inplace_predict(X, predict_type="margin")
    if library == "CatBoost":
        return lambda X: model.predict(X, prediction_type="RawFormulaVal", thread_count=1)
    if library == "RandomForest":
        return model.predict_proba
    return model.decision_function


def other_predictors(title, model, n_features, n_leaves):
    """What can be had of ONNX Runtime, treelite, tl2cgen and lleaves; {title: reason} of others."""
    found, missing = {}, {}
    makers = {"ONNX Runtime": _onnx, "treelite": _treelite}
    if n_leaves <= MOST_COMPILED_LEAVES:
        makers |= {"tl2cgen": _tl2cgen, "lleaves": _lleaves}
    for name, maker in makers.items():
        try:
            call = maker(title.split()[0], model, n_features)
        except Exception as error:  # of other people's converters: said in a note
            missing[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
            continue
        if call is not None:
            found[name] = call
    return found, missing


def _onnx(library, model, n_features):
    if not has("onnxruntime"):
        return None
    import onnxruntime

    converters = {
        "LightGBM": ("onnxmltools", _by_onnxmltools),
        "XGBoost": ("onnxmltools", _by_onnxmltools),
        "RandomForest": ("skl2onnx", _by_skl2onnx),
        "HistGradientBoosting": ("skl2onnx", _by_skl2onnx),
        "CatBoost": ("catboost", _by_catboost),
    }
    module, convert = converters[library]
    if not has(module):
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    text = convert(library, model, n_features)
    session = onnxruntime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    name, label = session.get_inputs()[0].name, session.get_outputs()[0].name
    # the label alone: a list of dictionaries of probabilities would take longer than the trees
    return lambda X: session.run([label], {name: X})


def _by_onnxmltools(library, model, n_features):
    import onnxmltools
    from onnxmltools.convert.common.data_types import FloatTensorType

    convert = getattr(onnxmltools, f"convert_{library.lower()}")
    types = [("X", FloatTensorType([None, n_features]))]
    return convert(model, initial_types=types, target_opset=15).SerializeToString()


def _by_skl2onnx(library, model, n_features):
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    types = [("X", FloatTensorType([None, n_features]))]
    settings = {id(model): {"zipmap": False}}
    return convert_sklearn(model, initial_types=types, options=settings).SerializeToString()


def _by_catboost(library, model, n_features):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        model.save_model(str(path), format="onnx")
        return path.read_bytes()


def _of_treelite(library, model):
    import treelite

    if library == "LightGBM":
        return treelite.frontend.from_lightgbm(model.booster_)
    if library == "XGBoost":
        return treelite.frontend.from_xgboost(model.get_booster())
    return treelite.sklearn.import_model(model)


def _treelite(library, model, n_features):
    if not has("treelite") or library == "CatBoost":
        return None
    import treelite

    read = _of_treelite(library, model)
    return lambda X: treelite.gtil.predict(read, X, nthread=1, pred_margin=True)


def _tl2cgen(library, model, n_features):
    if not has("treelite", "tl2cgen") or library == "CatBoost":
        return None
    import tl2cgen

    folder = Path(tempfile.mkdtemp(prefix="nearlinear-tl2cgen-"))
    path = folder / "model.so"
    tl2cgen.export_lib(_of_treelite(library, model), toolchain="gcc", libpath=path, nthread=1)
    predictor = tl2cgen.Predictor(path, nthread=1)
    return lambda X: predictor.predict(tl2cgen.DMatrix(X), pred_margin=True)


def _lleaves(library, model, n_features):
    if not has("lleaves") or library != "LightGBM":
        return None
    import lleaves

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.txt"
        model.booster_.save_model(str(path))
        compiled = lleaves.Model(model_file=str(path))
        compiled.compile(raw_score=True)
    return lambda X: compiled.predict(X, n_jobs=1)


def n_leaves_of(forest):
    return int(np.count_nonzero(forest.predictor_.gate.columns < 0))
