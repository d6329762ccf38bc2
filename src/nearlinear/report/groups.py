"""Groups of rows that a model without regions treats alike: a short tree of questions.

The tree is grown to the model's own answers, by squared error, one question at a time. It says who
gets which answers. It is no part of the model: the report says how much of the answers it tells.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .subject import CLASSES, spread_over

_MOST_GROUPS, _LEAST_SHARE, _LEAST_ROWS = 6, 0.04, 5
_MOST_ROWS, _MOST_COLUMNS, _MOST_CUTS, _MOST_VALUES = 2000, 20, 24, 12


@dataclass(frozen=True)
class Question:
    """Whether a number is at most ``value``, or a text is it; a missing cell is a no."""

    column: int
    value: float | str

    def __call__(self, cells):
        if isinstance(self.value, str):
            return np.array([cell == self.value for cell in cells.tolist()], dtype=bool)
        return cells <= self.value  # not of NaN


def groups(subject, order):
    """Nodes of the tree, the group of every row, and the share of the answers that it tells.

    None where no question sets rows apart. A node is {"column", "value", "yes", "no"} or {"group"}.
    """
    answers = _answers(subject)
    places = spread_over(len(answers), _MOST_ROWS)
    columns = [c for c in order[:_MOST_COLUMNS] if c not in _dates(subject)]
    cells = {column: subject.rows.column(column) for column in columns}
    seen = {column: one[places] for column, one in cells.items()}
    nodes, leaves = [{}], {0: np.arange(len(places))}
    best = {0: _best_question(seen, answers[places], leaves[0], len(places))}
    while len(leaves) < _MOST_GROUPS:
        node = max(leaves, key=lambda k: best[k][0])
        gain, question = best[node]
        if gain <= 0.0:
            break
        mine = leaves.pop(node)
        is_yes = question(seen[question.column][mine])
        nodes[node] = {"column": question.column, "value": question.value}
        for word, part in (("yes", mine[is_yes]), ("no", mine[~is_yes])):
            nodes[node][word] = len(nodes)
            leaves[len(nodes)] = part
            best[len(nodes)] = _best_question(seen, answers[places], part, len(places))
            nodes.append({})
    if len(leaves) < 2:
        return None
    for number, leaf in enumerate(sorted(leaves)):
        nodes[leaf] = {"group": number}
    found = np.empty(len(answers), dtype=np.intp)
    _walk(nodes, cells, np.arange(len(answers)), 0, found)
    return nodes, found, _told_share(answers, found)


def _answers(subject):
    """Probabilities or values: what people are told."""
    scores = subject.whole.scores(subject.rows.cells)
    chances = subject.whole.probabilities(scores) if subject.task == CLASSES else None
    return scores if chances is None else chances


def _dates(subject):
    return () if subject.whole.table is None else subject.whole.table.dates


def _best_question(cells, answers, mine, n_rows):
    """The largest fall of squared error, and the question that brings it."""
    least = max(_LEAST_ROWS, _LEAST_SHARE * n_rows)
    targets, best = answers[mine], (0.0, None)
    before = _spread(targets)
    for column, all_cells in cells.items():
        own = all_cells[mine]
        for value in _values(own):
            question = Question(column, value)
            is_yes = question(own)
            if min(is_yes.sum(), (~is_yes).sum()) < least:
                continue
            gain = before - _spread(targets[is_yes]) - _spread(targets[~is_yes])
            if gain > best[0] + 1e-12 * before:
                best = gain, question
    return best


def _values(cells):
    if cells.dtype == object:
        texts = Counter(cell for cell in cells.tolist() if isinstance(cell, str))
        return [text for text, _ in texts.most_common(_MOST_VALUES)]
    known = np.unique(cells[np.isfinite(cells)])
    if len(known) > _MOST_CUTS:
        known = np.unique(np.quantile(known, np.linspace(0.02, 0.98, _MOST_CUTS)))
    middles = (known[1:] + known[:-1]) / 2.0
    return sorted({float(f"{middle:.4g}") for middle in middles})


def _spread(targets):
    return float(((targets - targets.mean(axis=0)) ** 2).sum())


def _walk(nodes, cells, rows, node, found):
    here = nodes[node]
    if "group" in here:
        found[rows] = here["group"]
        return
    is_yes = Question(here["column"], here["value"])(cells[here["column"]][rows])
    _walk(nodes, cells, rows[is_yes], here["yes"], found)
    _walk(nodes, cells, rows[~is_yes], here["no"], found)


def _told_share(answers, found):
    left = sum(_spread(answers[found == group]) for group in np.unique(found))
    total = _spread(answers)
    return 1.0 - left / total if total > 0 else 1.0


def words(nodes, names):
    """For each group what its rows have in common."""
    found, waiting = {}, [(0, {})]
    while waiting:
        node, said = waiting.pop()
        here = nodes[node]
        if "group" in here:
            found[here["group"]] = [_rule(names[column], one) for column, one in said.items()]
            continue
        column, value = here["column"], here["value"]
        # a later question about the same end of a column is the narrower one
        known = said.get(column, {"not": ()})
        if isinstance(value, str):
            yes, no = {**known, "is": value}, {**known, "not": (*known["not"], value)}
        else:
            yes, no = {**known, "most": value}, {**known, "above": value}
        waiting += [(here["yes"], {**said, column: yes}), (here["no"], {**said, column: no})]
    return [found[group] for group in sorted(found)]


def _rule(name, said):
    """With spaces at which no line is broken."""
    if "is" in said:
        return f"{name} is {said['is']}"
    if said["not"]:
        return f"{name} is not {' or '.join(said['not'])}"
    if len(said) == 3:
        return f"{said['above']:g}\u00a0<\u00a0{name}\u00a0≤\u00a0{said['most']:g}"
    sign, value = ("≤", said["most"]) if "most" in said else (">", said["above"])
    return f"{name}\u00a0{sign}\u00a0{value:g}"
