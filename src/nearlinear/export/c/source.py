"""``to_c``: a fitted model as a header, a source file, a test program and a list of costs."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..._hints import FilePath, Rows, Targets
from ..._version import __version__
from ..model import count_columns, require_no_dates
from ..wrappers import prepared_models
from .check import Meaning, checked_sample, checking_program, compare, shown_rows
from .files import (
    calls_text,
    check_name,
    header_text,
    label_lines,
    named,
    source_text,
    with_columns,
    write_files,
)
from .gates import GATES
from .kernels import KERNELS
from .literals import CSourceError
from .outcome import CALIBRATIONS
from .predictors.cells import lower_gaussian_cells
from .predictors.combined import (
    lower_affine,
    lower_exponential,
    lower_mapped,
    lower_quadratic,
    lower_stacked,
    lower_with_gates,
)
from .predictors.conformal import lower_conformal
from .predictors.expansions import lower_expansion
from .predictors.forests import lower_forest
from .predictors.gated import lower_gated_expansion
from .predictors.hinges import lower_hinges
from .predictors.linear import SPARSE_GATES, lower_locally_linear
from .predictors.linked_trees import lower_linked
from .predictors.sums import lower_additive, lower_averaged
from .predictors.trees import lower_tree
from .preparation import in_single
from .program import C_TYPES, Program, lower
from .quantized import quantized, with_arrays
from .scaling import absorbed, scaling_of
from .texts import code_text, merged_texts, of_coded_rows, row_text_lines, text_lines, with_foreign

_SHOWN = {ctype: ctype.removesuffix("_t") for ctype in C_TYPES}


def cost_text(title, record, program, scored):
    """The text of the file of costs; ``scored`` names what accuracy is: accuracy or R2."""
    lines = [
        title,
        "",
        f"flash          {record.flash_bytes} bytes: {record.table_bytes} of tables and about "
        f"{record.code_bytes} of code",
        "               (code is estimated for an ARM Cortex-M4 at -Os, without libm)",
        f"RAM            about {record.ram_bytes} bytes of stack, none static",
        f"multiply-adds  {record.multiply_adds} per row",
        "",
        f"difference     {record.largest_difference:.3g} at most from the model's scores, on "
        f"{record.n_rows} rows;",
        f"               its largest score there is {record.largest_score:.3g}",
    ]
    if record.agreement is not None:
        lines.append(f"labels         {100 * record.agreement:.2f} % as the model's")
    if record.accuracy_before is not None:
        lines.append(
            f"{scored:<14} {record.accuracy_before:.4f} before, {record.accuracy_after:.4f} after"
        )
    lines += ["", "tables         bytes     type    extent"]
    for table in program.tables:
        name = table.symbol.removeprefix("@_")
        extent = " x ".join(str(size) for size in table.shape)
        lines.append(f"{name:<22} {table.n_bytes:>9} {_SHOWN[table.ctype]:<7} {extent}")
    lines.append(f"{'(records)':<22} {program.record_bytes:>9} {'':<7} pointers and sizes")
    return "\n".join(line.rstrip() for line in lines) + "\n"


RULES = {
    "LocallyLinear": lower_locally_linear,
    "TreePath": lower_tree,
    "TreeLeaves": lower_tree,
    "LinkedTree": lower_linked,
    "Forest": lower_forest,
    "ConformalLinear": lower_conformal,
    "GaussianCells": lower_gaussian_cells,
    "KernelExpansion": lower_expansion,
    "GatedExpansion": lower_gated_expansion,
    "Mapped": lower_mapped,
    "Additive": lower_additive,
    "Averaged": lower_averaged,
    "Hinges": lower_hinges,
    "Exponential": lower_exponential,
    "Stacked": lower_stacked,
    "Affine": lower_affine,
    "WithGates": lower_with_gates,
    "Quadratic": lower_quadratic,
    **SPARSE_GATES,
    **GATES,
    **KERNELS,
    **CALIBRATIONS,
}


@dataclass(frozen=True)
class CSource:
    """What ``to_c`` has written, and what it costs.

    Attributes
    ----------
    header, source, test, cost : Path
        The files.
    flash_bytes : int
        Tables and code together.
    table_bytes : int
        Tables, as a 32-bit processor stores them.
    code_bytes : int
        An estimate for an ARM Cortex-M4 at -Os, without libm.
    ram_bytes : int
        An estimate of the stack that a call needs; nothing is static.
    multiply_adds : int
        Multiplications (each with its addition) for one row.
    largest_difference, largest_score : float
        The largest difference between the scores of the model and of the tables in float32
        arithmetic, and the largest score, on the sample (or, without one, on drawn rows).
    n_rows : int
        How many rows these are.
    agreement : float or None
        The share of these rows whose label stays the same; None for values.
    accuracy_before, accuracy_after : float or None
        Accuracy (for values, R²) on the sample's labels, of the model and of the tables.
    """

    header: Path
    source: Path
    test: Path
    cost: Path
    flash_bytes: int
    table_bytes: int
    code_bytes: int
    ram_bytes: int
    multiply_adds: int
    largest_difference: float
    largest_score: float
    n_rows: int
    agreement: float | None
    accuracy_before: float | None
    accuracy_after: float | None


def to_c(
    model: Any,
    directory: FilePath,
    dtype: Literal["float32", "int8"] = "float32",
    sample: Rows | None = None,
    sample_labels: Targets | None = None,
    *,
    name: str = "model",
) -> CSource:
    """Write a fitted model, or a pipeline that ends in one, as C99 source.

    The directory gets ``model.h`` and ``model.c`` (constant tables and short loops: no
    allocation, and of libm at most expf, logf, tanhf and sqrtf), ``model_test.c`` (a program that
    exits with 0 if the scores of some rows are those that Python gives them) and ``NAME_cost.txt``.
    ``model_predict`` gives the number of a row's class, and where the model has ``predict_proba``,
    ``model_probabilities`` those of all classes.

    Parameters
    ----------
    model : estimator, Pipeline, search or wrapper
        Fitted. What ``save`` takes, but for dates. Rows are numbers: a column of text holds the
        code of its text, which ``model_code`` knows, and NaN where a text is missing. C refuses no
        row: where the pipeline would, a missing value makes the scores NaN, and a category that
        the fit did not know is none of the known ones.
    directory : str or path
        Made if it is missing.
    dtype : {"float32", "int8"}, default="float32"
        With "int8", rows of weights, anchors and support rows are whole numbers of one byte
        with a scale for each row. Sums are float in both.
    sample : array of shape (n_rows, n_features) or None, default=None
        Rows as the model takes them, for the test program and the differences; without a sample
        rows are drawn.
    sample_labels : array of shape (n_rows,) or None, default=None
        Their labels or values, for accuracies.
    name : str, default="model"
        Begins all names of files, functions and constants.

    Returns
    -------
    CSource
        Paths, costs, differences and accuracies.

    Raises
    ------
    CSourceError
        The model has no C source, or the files cannot be written.
    """
    check_name(name)
    if dtype not in ("float32", "int8"):
        raise CSourceError(f"dtype={dtype!r} is unknown: give 'float32' or 'int8'.")
    whole, models = prepared_models(model, CSourceError)
    classes, outcome = whole.classes, whole.outcome
    require_no_dates(models, CSourceError, "and C rows are numbers")
    coded_rows = [of_coded_rows(preparation) for preparation, _, _ in models]
    texts = merged_texts([found for _, found in coded_rows])
    preparation, names, estimator = models[0]
    n_features = count_columns(estimator) if preparation is None else preparation.n_features
    takes_missing = getattr(estimator.predictor_, "takes_missing", False)
    sample, labels = checked_sample(
        sample, sample_labels, n_features, preparation, takes_missing
    )  # fmt: skip

    is_int8 = dtype == "int8"
    originals = [
        (with_arrays(one.predictor_, np.float64), scaling_of(numbers))
        for (numbers, _), (_, _, one) in zip(coded_rows, models, strict=True)
    ]
    exported = [_exported(*original, is_int8) for original in originals]
    program = Program(is_int8)
    parts = [
        (lower(predictor, program), scaling, count_columns(one))
        for (predictor, scaling), (_, _, one) in zip(exported, models, strict=True)
    ]
    calls = calls_text(program, parts, classes, outcome) + code_text(program, texts)
    meaning = Meaning(classes, outcome, texts)
    found = compare(originals, exported, n_features, meaning, sample, labels)

    title = f"{type(estimator).__name__} in {dtype}, by nearlinear {__version__}"
    record = _record(Path(directory), name, program, parts, calls, found)
    n_scores = sum(part.n_outputs for part, _, _ in parts)
    files = {
        record.header.name: header_text(title, n_features, n_scores, classes, outcome, texts),
        record.source.name: source_text(title, program, calls),
        record.test.name: checking_program(found),
    }
    files = {file: named(text, name) for file, text in files.items()}
    files[record.source.name] = with_foreign(
        files[record.source.name], labels=label_lines(classes), texts=text_lines(texts)
    )
    files[record.test.name] = with_foreign(
        files[record.test.name], texts=row_text_lines(texts, shown_rows(found))
    )
    files[record.header.name] = with_columns(files[record.header.name], names, texts)
    scored = "R2" if classes is None else "accuracy"
    files[f"{name}_cost.txt"] = cost_text(title, record, program, scored)
    write_files(directory, files)
    return record


def _exported(predictor, scaling, is_int8):
    """What the tables hold of a model and the scaling before it."""
    predictor, scaling = absorbed(predictor, scaling, is_int8)
    scaling = replace(scaling, before=in_single(scaling.before))
    return quantized(predictor) if is_int8 else predictor, scaling


def _record(directory, name, program, parts, calls, found):
    code_bytes = program.code_bytes(calls)
    ends = (f"{name}.h", f"{name}.c", f"{name}_test.c", f"{name}_cost.txt")
    return CSource(
        *(directory / end for end in ends),
        flash_bytes=program.table_bytes + code_bytes,
        table_bytes=program.table_bytes,
        code_bytes=code_bytes,
        ram_bytes=program.stack_bytes(calls),
        multiply_adds=sum(
            part.multiply_adds + (0 if scaling.is_none else n_columns)
            for part, scaling, n_columns in parts
        ),
        largest_difference=found.largest_difference,
        largest_score=found.largest_score,
        n_rows=len(found.rows),
        agreement=found.agreement,
        accuracy_before=found.accuracy(found.before),
        accuracy_after=found.accuracy(found.after),
    )
