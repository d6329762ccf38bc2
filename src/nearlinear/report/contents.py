"""All that a report says, as one object of plain values; the page shows it, and adds nothing."""

import numpy as np

from .class_measures import class_measures
from .cost import cost
from .effects import effects
from .front import front
from .importances import moves_of
from .made import lines, made
from .regions import regions
from .sentences import asked, found, headline, title, why
from .subject import CLASSES
from .value_measures import value_measures
from .what_if import what_if

_MOST_COLUMNS, _MOST_RANKED = 200, 30


def contents(subject, peers=None):
    """The document."""
    measures = (class_measures if subject.task == CLASSES else value_measures)(subject)
    moves = moves_of(subject)
    order = _order(subject, moves)
    cost_ = cost(subject, peers)
    return {
        "title": subject.names.get("title") or title(subject),
        "task": subject.task,
        "target": subject.names.get("target"),
        "classes": subject.classes,
        "asked": asked(subject),
        "found": found(subject, measures, cost_),
        "is_own_judge": subject.judge is subject.whole,
        "headline": headline(subject, measures, cost_),
        "front": front(subject, peers),
        "columns": columns(subject, moves),
        "importances": _ranked(subject, moves, order),
        "typical": {"row": subject.typical, "cells": subject.rows.row(subject.typical)[:200]},
        "effects": effects(subject, order),
        "measures": measures,
        "regions": regions(subject, moves, order),
        "what_if": what_if(subject, order),
        "cost": cost_,
        "lines": lines(subject),
        "made": made(subject),
    }


def _order(subject, moves):
    """Columns, the most important first."""
    if moves is None:
        return list(range(subject.rows.shape[1]))[:_MOST_COLUMNS]
    return np.argsort(-moves.importances, kind="stable").tolist()


def _shares(moves):
    return moves.importances / (moves.importances.sum() or 1.0)


def _ranked(subject, moves, order):
    if moves is None:
        return None
    values, shares = moves.importances, _shares(moves)
    shown = [
        {"name": subject.rows.names[k], "value": float(values[k]), "share": float(shares[k])}
        for k in order[:_MOST_RANKED]
    ]
    return {"by": moves.by, "columns": shown, "left_out": max(0, len(order) - _MOST_RANKED)}


def columns(subject, moves):
    """What was done to each column, and why; in the words of the encoder where there is one."""
    encoder = subject.encoder
    done = "taken as it is" if encoder is None else f"goes through {type(encoder).__name__}"
    known = getattr(encoder, "columns_", None) or [
        {"name": name, "kind": "number", "done": done, "missing": 0} for name in subject.rows.names
    ]
    known = known[:_MOST_COLUMNS]
    shares = [None] * len(known) if moves is None else _shares(moves).tolist()
    found = [
        {**one, "name": str(one["name"]), "why": why(one["done"]), "share": share}
        for one, share in zip(known, shares)
    ]
    return {"columns": found, "left_out": subject.rows.shape[1] - len(found)}
