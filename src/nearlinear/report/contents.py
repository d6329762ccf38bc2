"""All that a report says, as one object of plain values; the page shows it, and adds nothing."""

import numpy as np

from .class_measures import class_measures
from .cost import cost
from .effects import effects
from .front import front
from .importances import importances
from .made import lines, made
from .regions import regions
from .sentences import asked, found, headline
from .subject import CLASSES
from .value_measures import value_measures
from .what_if import what_if

_MOST_COLUMNS = 200


def contents(subject, peers=None):
    """The document."""
    measures = (class_measures if subject.task == CLASSES else value_measures)(subject)
    matters = importances(subject)
    order = _order(subject, matters)
    cost_ = cost(subject, peers)
    return {
        "title": subject.names.get("title") or f"{subject.names.get('target') or 'Model'} report",
        "task": subject.task,
        "target": subject.names.get("target"),
        "classes": subject.classes,
        "asked": asked(subject),
        "found": found(subject, measures, cost_),
        "is_own_judge": subject.judge is subject.whole,
        "headline": headline(subject, measures, cost_),
        "front": front(subject, peers),
        "columns": columns(subject, matters),
        "importances": _ranked(subject, matters, order),
        "typical": {"row": subject.typical, "cells": subject.rows.row(subject.typical)[:200]},
        "effects": effects(subject, order),
        "measures": measures,
        "regions": regions(subject),
        "what_if": what_if(subject, order),
        "cost": cost_,
        "lines": lines(subject),
        "made": made(subject),
    }


def _order(subject, matters):
    """Columns, the most important first."""
    if matters is None:
        return list(range(subject.rows.shape[1]))[:_MOST_COLUMNS]
    return np.argsort(-np.asarray(matters["values"]), kind="stable").tolist()


def _ranked(subject, matters, order):
    if matters is None:
        return None
    total = sum(matters["values"]) or 1.0
    ranked = [
        {"name": subject.rows.names[k], "value": matters["values"][k],
         "share": matters["values"][k] / total}
        for k in order[:30]
    ]  # fmt: skip
    return {"by": matters["by"], "columns": ranked, "left_out": max(0, len(order) - 30)}


def columns(subject, matters):
    """What was done to each column, and why; in the words of the encoder where there is one."""
    encoder = getattr(subject.model, "encoder_", None)
    if encoder is None and subject.whole.preparation is not None:
        encoder = subject.whole.preparation
        encoder = encoder[0] if hasattr(encoder, "steps") else encoder
    known = getattr(encoder, "columns_", None)
    if not known:
        done = "taken as it is"
        if encoder is not None:
            done = f"goes through {type(encoder).__name__}"
        known = [
            {"name": name, "kind": "number", "done": done, "missing": 0}
            for name in subject.rows.names[:_MOST_COLUMNS]
        ]
    found = []
    for place, one in enumerate(known[:_MOST_COLUMNS]):
        share = None
        if matters is not None:
            share = matters["values"][place] / (sum(matters["values"]) or 1.0)
        found.append({**one, "name": str(one["name"]), "share": share})
    return {"columns": found, "left_out": max(0, subject.rows.shape[1] - len(found))}
