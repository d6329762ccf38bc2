"""Tables of the kernels of an expansion: support rows, terms and the columns that they read."""

from dataclasses import dataclass, replace

import numpy as np

from .c_kernel_text import Needs, kernel_text
from .c_kernels import GAUSSIAN, columns_read, flatten

_SAMPLE = 200
_WIDE = 0.5  # mean value of a Gaussian from which it is better taken less one


@dataclass(frozen=True)
class KernelValues:
    """The C function that evaluates kernels, its tables, and what callers must know.

    Group g is a part of kernel ``owners[g]``; at support row j it is ``row_factors[g][j]`` times
    the sum of the function's value and ``constants[g]``.
    """

    function: str
    begin: str
    tables: dict
    owners: list
    row_factors: list
    constants: list

    def completed(self, text):
        """A caller's text with the names filled in."""
        return text.replace("<BEGIN>", self.begin).replace("<VALUES>", self.function)


def lower_kernels(kernels, support, program, takes_constants):
    """Kernels on the rows of ``support``; only columns that some kernel reads are kept.

    With ``takes_constants`` wide Gaussians may be given less one.
    """
    n_columns = support.shape[1]
    every = tuple(range(n_columns))
    found = [(m, group) for m, kernel in enumerate(kernels) for group in flatten(kernel, every)]
    owners, groups = [m for m, _ in found], [group for _, group in found]
    row_factors = [group.row_factors(support) for group in groups]
    constants = [0.0] * len(groups)
    if takes_constants:
        groups, constants = _less_one(groups, support)
    terms = [term for group in groups for term in group.terms]
    sets = sorted({term.columns for term in terms})
    picked = columns_read(kernels, n_columns)
    needs = Needs(
        gaussians=any(term.degree == GAUSSIAN for term in terms),
        wide=any(term.gamma < 0.0 for term in terms),
        powers=any(term.degree != GAUSSIAN for term in terms),
        roots=any(group.is_unit for group in groups),
        picked=len(picked) < n_columns,
        sets=sets != [tuple(picked)],
    )
    tables = {
        "support": program.matrix("support", support[:, picked]),
        **_optional_tables(needs, groups, terms, sets, picked, program),
        "gammas": program.vector("gammas", [term.gamma for term in terms]),
        "factors": program.vector("factors", [term.factor for term in terms]),
        "groups": program.indices("groups", _starts(group.terms for group in groups)),
        "n_groups": len(groups),
    }
    program.at_least("GROUPS", len(groups))
    function = program.define("kernels", kernel_text(needs, program))
    begin = f"{function}_begin({'&m->kernels, ' if needs.begins else ''}x, &row)"
    return KernelValues(function, begin, tables, owners, row_factors, constants)


def _optional_tables(needs, groups, terms, sets, picked, program):
    tables = {}
    if needs.picked:
        program.at_least("PICKED", len(picked))
        tables["picked"] = program.indices("picked_columns", picked)
    if needs.sets:
        place, number = {d: k for k, d in enumerate(picked)}, {s: k for k, s in enumerate(sets)}
        columns = [place[d] for columns in sets for d in columns]
        program.at_least("SETS", len(sets))
        tables |= {
            "set_starts": program.indices("set_starts", _starts(sets)),
            "columns": program.indices("columns", columns),
            "term_sets": program.indices("term_sets", [number[term.columns] for term in terms]),
            "n_sets": len(sets),
        }
    if needs.powers:
        tables["degrees"] = program.indices("degrees", [term.degree for term in terms])
        tables["constants"] = program.vector("constants", [term.coef0 for term in terms])
    if needs.roots:
        tables["is_unit"] = program.indices("is_unit", [int(group.is_unit) for group in groups])
    return tables


def _starts(parts):
    return np.cumsum([0, *(len(part) for part in parts)])


def _less_one(groups, support):
    """Groups whose wide Gaussians are to be taken less one, and what each thus lacks.

    Kernels of a bank are scaled to variance one: a Gaussian that is nearly 1 everywhere has a
    factor of thousands, and its machine's coefficients cancel. In float32 that would cost digits.
    """
    sample = support[:: -(-len(support) // _SAMPLE)] if len(support) else support
    changed, constants = [], []
    for group in groups:
        terms, constant = [], 0.0
        for term in group.terms:
            if not group.is_unit and _is_wide(term, sample):
                constant += term.factor
                term = replace(term, gamma=-term.gamma)
            terms.append(term)
        changed.append(replace(group, terms=tuple(terms)))
        constants.append(constant)
    return changed, constants


def _is_wide(term, sample):
    if term.degree != GAUSSIAN or len(sample) == 0:
        return False
    rows = sample[:, list(term.columns)]
    spread = 2.0 * ((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean()
    return bool(np.exp(-term.gamma * spread) > _WIDE)
