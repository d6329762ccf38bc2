"""Kernels as sums of terms, so that a loop over a table can take the place of any nesting.

A group is Σ_t factor_t k_t with k_t Gaussian or polynomial on some columns, multiplied by
1 / √(k(x, x) k(z, z)) where it has a unit diagonal. Every kernel that has C is a sum of groups.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...kinds import rule_for
from .kernel_text import FORMULA, Needs, kernel_text
from .literals import CSourceError

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
    groups, texts = _numbered(groups)
    terms = [term for group in groups for term in group.terms]
    sets = sorted({term.columns for term in terms})
    picked = columns_read(kernels, n_columns)
    needs = Needs(
        gaussians=any(term.degree == GAUSSIAN for term in terms),
        wide=any(term.gamma < 0.0 for term in terms),
        powers=any(0 < term.degree < FORMULA for term in terms),
        texts=texts,
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
    if needs.degrees:
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


def _numbered(groups):
    """Groups whose formulas have numbers, and the texts of these in order."""
    texts = sorted({term.text for group in groups for term in group.terms if term.text})
    if not texts:
        return groups, ()
    if any(group.is_unit for group in groups):
        raise CSourceError(
            "A registered kernel beside kernels of unit diagonal has no C source: fit with "
            "normalization='variance'."
        )
    numbered = [
        replace(group, terms=tuple(
            replace(term, degree=FORMULA + texts.index(term.text)) if term.text else term
            for term in group.terms
        ))
        for group in groups
    ]  # fmt: skip
    return numbered, tuple(texts)


GAUSSIAN = 0  # in place of a degree


@dataclass(frozen=True)
class Term:
    """factor × exp(−gamma d²), or factor × (gamma ⟨x, z⟩ + coef0) ** degree, on ``columns``.

    With a ``text`` it is factor × that expression in C.
    """

    columns: tuple[int, ...]
    degree: int
    gamma: float
    coef0: float
    factor: float = 1.0
    text: str = ""

    def diagonal(self, Z):
        """The term's own value at pairs of equal rows."""
        if self.degree == GAUSSIAN:
            return np.full(len(Z), self.factor)
        squares = (Z[:, list(self.columns)] ** 2).sum(axis=1)
        return self.factor * (self.gamma * squares + self.coef0) ** self.degree


@dataclass(frozen=True)
class Group:
    """Terms that are added up; ``factor`` stands outside of a unit diagonal."""

    terms: tuple[Term, ...]
    is_unit: bool = False
    factor: float = 1.0

    def times(self, factor):
        if self.is_unit:
            return replace(self, factor=self.factor * factor)
        terms = tuple(replace(term, factor=term.factor * factor) for term in self.terms)
        return replace(self, terms=terms)

    def row_factors(self, Z):
        """What the group's value at (x, z) is to be multiplied with for every z."""
        if not self.is_unit:
            return np.ones(len(Z))
        diagonal = sum(term.diagonal(Z) for term in self.terms)
        roots = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        return np.where(diagonal > 0, self.factor / roots, 0.0)


def flatten(kernel, columns):
    """A kernel on rows that consist of these columns, as groups."""
    return rule_for("c", kernel, CSourceError)(kernel, columns)


def formula(columns, text, number=0.0):
    """A kernel of ``square`` ‖x − z‖², ``product`` ⟨x, z⟩ and a ``number``: an expression in C."""
    return [Group((Term(columns, FORMULA, float(number), 0.0, text=text),))]


def _linear(kernel, columns):
    return [Group((Term(columns, 1, 1.0, 0.0),))]


def _polynomial(kernel, columns):
    term = Term(columns, int(kernel.degree), float(kernel.gamma), float(kernel.coef0))
    return [Group((term,))]


def _gaussian(kernel, columns):
    return [Group((Term(columns, GAUSSIAN, float(kernel.gamma), 0.0),))]


def _on_columns(kernel, columns):
    return flatten(kernel.kernel, tuple(columns[d] for d in kernel.columns))


def _scaled(kernel, columns):
    return [group.times(float(kernel.factor)) for group in flatten(kernel.kernel, columns)]


def columns_read(kernels, n_features):
    """Numbers of the columns that some kernel reads, in order."""
    every = tuple(range(n_features))
    groups = [group for kernel in kernels for group in flatten(kernel, every)]
    return sorted({d for group in groups for term in group.terms for d in term.columns})


def _sum(kernel, columns):
    parts = zip(kernel.kernels, kernel.weights, strict=True)
    groups = [
        group.times(float(weight))
        for part, weight in parts
        if weight != 0.0
        for group in flatten(part, columns)
    ]
    plain = tuple(term for group in groups if not group.is_unit for term in group.terms)
    joined = [Group(plain)] if plain else []
    return joined + [group for group in groups if group.is_unit]


def _unit_diagonal(kernel, columns):
    groups = flatten(kernel.kernel, columns)
    if len(groups) == 1 and groups[0].is_unit:
        return [replace(groups[0], factor=1.0)]
    if len(groups) != 1:
        raise CSourceError(
            "A UnitDiagonal of a sum that holds another UnitDiagonal has no C source: fit with "
            "normalization='variance'."
        )
    terms = groups[0].terms
    if any(term.text for term in terms):
        raise CSourceError(
            "A registered kernel of unit diagonal has no C source: fit with "
            "normalization='variance'."
        )
    if len(terms) == 1 and terms[0].degree == GAUSSIAN:
        return [Group((replace(terms[0], factor=1.0),))]
    return [Group(terms, is_unit=True)]


def _pairwise(kernel, columns):
    raise CSourceError(
        "A PairwiseNormalizedSum has a C source only where rows carry their gates' values: fit "
        "another method."
    )


KERNELS = {
    "Linear": _linear,
    "Polynomial": _polynomial,
    "Gaussian": _gaussian,
    "OnColumns": _on_columns,
    "Scaled": _scaled,
    "UnitDiagonal": _unit_diagonal,
    "WeightedSum": _sum,
    "PairwiseNormalizedSum": _pairwise,
}
