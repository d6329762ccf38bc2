"""What a model may cost: options that ``fit`` and ``compare`` share."""

from ..._similar_names import did_you_mean, similar_names
from ...search.families import FAMILIES
from .._errors import CommandError
from ..shown.amounts import n_bytes, positive, seconds

_OPTIONS = {
    "--max-times-linear": (positive, "X", "most multiply-adds of a prediction, as a multiple of a "
                           "linear model's"),
    "--max-us-per-row": (positive, "US", "most microseconds a row in a batch, one thread, behind "
                         "the encoder"),
    "--single-row-us": (positive, "US", "the same for one row at a time"),
    "--max-bytes": (n_bytes, "SIZE", "most bytes of the model, such as 64kB"),
    "--time-limit": (seconds, "TIME", "most time of the search, such as 90s or 10m"),
}  # fmt: skip


def add_budget_arguments(parser):
    group = parser.add_argument_group("budgets (in any combination; none: the most accurate)")
    for flag, (kind, word, told) in _OPTIONS.items():
        group.add_argument(flag, type=kind, metavar=word, help=told)
    group = parser.add_argument_group("search")
    group.add_argument(
        "--scoring", metavar="NAME",
        help="a scorer of scikit-learn, such as roc_auc, that is made large on held-out rows "
        "(default: the log loss or the squared error is made small)",
    )  # fmt: skip
    group.add_argument(
        "--families", metavar="NAME[,NAME]",
        help="families to try beside the linear model (default: all that suit)",
    )  # fmt: skip


def search_settings(arguments):
    """Parameters of the search that the options set; what none of them can be is refused."""
    names = [flag[2:].replace("-", "_") for flag in _OPTIONS]
    found = {name: getattr(arguments, name) for name in names}
    found |= {"scoring": arguments.scoring, "families": arguments.families}
    found = {name: value for name, value in found.items() if value is not None}
    if "scoring" in found:
        _check_scoring(found["scoring"])
    if "families" in found:
        found["families"] = _families(found["families"])
    return found


def _families(text):
    wanted = [name.strip().replace("-", " ") for name in text.split(",") if name.strip()]
    known = [name.replace(" ", "-") for name in FAMILIES]
    for name in wanted:
        if name.replace(" ", "-") not in known:
            hint = did_you_mean(similar_names(name, known))
            raise CommandError(f"--families {name}: {hint}there are {', '.join(known)}")
    return wanted


def _check_scoring(name):
    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if name not in known:
        hint = did_you_mean(similar_names(name, known))
        raise CommandError(
            f"--scoring {name}: {hint}there are accuracy, roc_auc, r2 and the other scorers of "
            "scikit-learn"
        )
