"""Models that a search has found, their prices, and how to get each of them."""

from ..search.found import Found
from .made import exports

# Budgets that may choose a model, and where its own price stands in a record.
_BUDGETS = {
    "max_times_linear": "times_linear", "max_us_per_row": "us_per_row", "max_bytes": "n_bytes",
}  # fmt: skip
_SCORES = {"classes": "held-out accuracy", "values": "held-out R²"}


def front(subject, peers=None):
    """Points of all models that were fitted, cheapest first, and of peers; None without both."""
    record = getattr(subject.model, "record_", None)
    names = names_of(record or ())
    points = [{**_point(subject, one), "name": name} for one, name in zip(record or (), names)]
    points.sort(key=lambda one: one["us"])
    others = [_peer(one) for one in peers or ()]
    if len(points) + len(others) < 2:
        return None
    return {
        "score": _SCORES[subject.task],
        "peers_score": "test accuracy" if subject.task == "classes" else "test R²",
        "points": points,
        "peers": others,
        "tried": len(getattr(subject.model, "tried_", ())),
    }


def names_of(record):
    """Names of models, with the settings in which those of one family differ."""
    found = []
    for one in record:
        alike = [other["settings"][0] for other in record if other["model"] == one["model"]]
        own, is_single = one["settings"][0], len(one["settings"]) == 1
        differ = [key for key in own if len({str(other.get(key)) for other in alike}) > 1]
        told = ", ".join(f"{key} {own[key]:g}" for key in differ) if is_single else ""
        found.append(f"{one['model']} ({told})" if told else one["model"])
    return found


def _point(subject, one):
    python, command = _ways(subject, one)
    return {
        "model": one["model"], "score": one["score"], "error": one["score_error"],
        "loss": one["loss"], "us": one["us_per_row"], "single_us": one["single_row_us"],
        "times_linear": one["times_linear"], "bytes": int(one["n_bytes"]),
        "on_front": bool(one["on_front"]), "is_chosen": bool(one["is_chosen"]),
        "settings": [
            {"family": family, "weight": weight, "parameters": {k: str(v) for k, v in own.items()}}
            for family, weight, own in zip(
                one["model"].split(" + "), one["weights"], one["settings"], strict=True
            )
        ],
        "python": python, "command": command,
    }  # fmt: skip


def _ways(subject, one):
    """Python and the command that give this model; None where only another search would."""
    name, data, target = (subject.names.get(key) for key in ("file", "data", "target"))
    name = name or "model.nlm"
    if one["is_chosen"]:
        return f"nearlinear.save(model, {name!r})", exports(subject, name)[0]
    if not isinstance(subject.model._state, Found):  # of a file, which has the chosen model alone
        return None, None
    for option, key in _BUDGETS.items():
        other = subject.model.select(**{option: one[key]})
        if next(o for o in other.record_ if o["is_chosen"])["settings"] == one["settings"]:
            python = f"nearlinear.save(model.select({option}={one[key]!r}), 'other.nlm')"
            words = f"nearlinear fit {data or 'TABLE.csv'} --target {target or 'TARGET'}"
            option = option.replace("_", "-")
            return python, f"{words} --{option} {one[key]!r} --out other.nlm"
    return None, None


def _peer(one):
    return {
        "model": str(one["name"]), "ours": bool(one.get("ours")), "score": float(one["score"]),
        "us": float(one["us_per_row"]), "bytes": one.get("bytes"),
    }  # fmt: skip
