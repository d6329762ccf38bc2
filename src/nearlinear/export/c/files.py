"""The texts of the header and the source, and their way to the disk."""

import re
from pathlib import Path

from ..._files import replacing_all
from .literals import CSourceError, comment_text, filled, string_literal
from .outcome import label_calls, outcome_calls
from .preparation import define_preparation
from .texts import HEADER as CODE_CALL

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,40}")
_SYSTEM_HEADERS = {"math", "stddef", "stdint", "stdio"}
_LIBM = ("expf", "logf", "tanhf", "sqrtf")

_HEADER = """
/* <TITLE>. C99. */

#ifndef @@_H
#define @@_H

#ifdef __cplusplus
extern "C" {
#endif

#define @@_N_FEATURES <N_FEATURES>
#define @@_N_OUTPUTS <N_OUTPUTS>
#define @@_N_CLASSES <N_CLASSES>

<COLUMNS>/* Scores of the row x of @@_N_FEATURES numbers: <MEANING>. */
void @_scores(const float *x, float *scores);
<CALLS>
#ifdef __cplusplus
}
#endif

#endif
"""
_PROBABILITY_CALL = """
/* The probabilities of the @@_N_CLASSES classes at the row x. */
void @_probabilities(const float *x, float *probabilities);
"""
_CLASS_CALLS = """
/* The class of the row x: a place in @_labels. */
int @_predict(const float *x);

/* The class labels, in UTF-8. */
extern const char *const @_labels[@@_N_CLASSES];
"""
_LABEL_CALLS = """
/* 1 for each of the @@_N_CLASSES labels that the row x has, else 0. */
void @_predict(const float *x, int *labels);
"""
_VALUE_CALL = """
/* The value at the row x. */
float @_value(const float *x);
"""

_SOURCE = """
/* <TITLE>.
 *
 * Constant tables and short loops: no allocation, no static variables, safe in threads.
 * <LIBM>
 */

#include "@.h"

<INCLUDES>
<PROGRAM>
<CALLS>"""
_SCORES = """
void @_scores(const float *x, float *scores)
{<BUFFER><LINES>
}
"""
_BUFFER = """
    float row[<WIDEST>];"""
_LINE = """
    <FUNCTION>(&<TABLES>, <ROW>, scores<PLACE>);"""
_PREPARE = """
    <PREPARE>(x, row);"""
_SCALE = """
    for (size_t d = 0; d < <N_COLUMNS>; d++)
        row[d] = <VALUE>;"""
_VALUE = """
float @_value(const float *x)
{
    float score[1];
    @_scores(x, score);
    return score[0];
}
"""


def check_name(name):
    """Hold the prefix of all names against C's rules."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _SYSTEM_HEADERS:
        raise CSourceError(
            f"name={name!r} cannot begin C names: take a letter, then letters, digits and "
            "underscores, and no name of a system header."
        )


def header_text(title, n_features, n_scores, classes, outcome, texts):
    n_classes = 0 if classes is None else len(classes)
    meaning = "positive for the second class" if n_classes == 2 else "one for each class"
    n_models = n_scores // (1 if n_classes <= 2 else n_classes)
    meaning += f", for one of {n_models} models after the other" if n_models > 1 else ""
    calls = _CLASS_CALLS if n_classes else _VALUE_CALL if n_scores == 1 else ""
    if outcome.is_of_each_label:
        calls, meaning = _LABEL_CALLS, "one for each label, positive where the row has it"
    calls = _PROBABILITY_CALL + calls if outcome.gives_probabilities else calls
    calls += f"\n{CODE_CALL}" if any(texts.values()) else ""
    counts = {"n_features": n_features, "n_outputs": n_scores, "n_classes": n_classes}
    meaning = meaning if n_classes else "the value" if n_scores == 1 else "the values"
    text = filled(_HEADER, title=comment_text(title), meaning=meaning, calls=calls, **counts)
    return text.lstrip("\n")


def calls_text(program, parts, classes, outcome):
    """The public functions; ``program`` gets the tables that they read. Labels come last of all.

    ``parts`` has for each model its part, the scaling before it, and the columns that it takes.
    """
    n_outputs = parts[0][0].n_outputs
    text = _scores_text(program, parts)
    if classes is None:
        text += _VALUE if n_outputs == 1 else ""
    elif outcome.is_of_each_label:
        text += label_calls(outcome, n_outputs)
    else:
        text += outcome_calls(program, outcome, len(parts), n_outputs, len(classes))
        text += f"\nconst char *const @_labels[{len(classes)}] = {{\n<LABELS>\n}};\n"
    return text.lstrip("\n")


def _scores_text(program, parts):
    lines = ""
    for number, (part, scaling, n_columns) in enumerate(parts):
        tables = program.constant("whole", f"{part.function}_tables", part.tables)
        place = f" + {number * part.n_outputs}" if number else ""
        row, call = _row_text(program, scaling, n_columns)
        line = filled(_LINE, function=part.function, tables=tables, row=call, place=place)
        lines += row + line
    widest = max(n_columns for _, _, n_columns in parts)
    buffer = filled(_BUFFER, widest=widest) if ", row, " in lines else ""
    return filled(_SCORES, buffer=buffer, lines=lines)


def _row_text(program, scaling, n_columns):
    """What makes the row that a model takes, and the name of that row."""
    is_prepared = scaling.before is not None
    text, value = "", "row[d]" if is_prepared else "x[d]"
    if is_prepared:
        text += filled(_PREPARE, prepare=define_preparation(program, scaling.before))
    if scaling.shift is not None:
        value = f"({value} - {program.vector('shift', scaling.shift)}[d])"
    if scaling.factor is not None:
        value += f" * {program.vector('factor', scaling.factor)}[d]"
    if not scaling.is_none:
        text += filled(_SCALE, value=value, n_columns=n_columns)
    return text, "row" if text else "x"


def source_text(title, program, calls):
    body = program.render()
    used = [name for name in _LIBM if f"{name}(" in body]
    needs = f"Needs {', '.join(used)} of libm." if used else "Needs nothing of libm."
    includes = ["math.h"] if used else []
    includes += ["stddef.h"] + (["stdint.h"] if re.search(r"int\d+_t ", body) else [])
    includes = "".join(f"#include <{name}>\n" for name in includes)
    text = filled(_SOURCE, title=comment_text(title), libm=needs, includes=includes)
    return filled(text, program=body, calls=calls).lstrip("\n")


def named(text, name):
    """C text with its prefix filled in."""
    return text.replace("@@", name.upper()).replace("@", name)


def label_lines(classes):
    labels = () if classes is None else classes
    return ",\n".join(f"    {string_literal(label)}" for label in labels)


def with_columns(text, names, texts=()):
    """C text with the names of a row's columns in a comment; these are foreign text, too."""
    lines = [
        f" *   {d}  {comment_text(name)[:80]}{' (a code of text)' if d in texts else ''}"
        for d, name in enumerate(names or ())
    ]
    comment = "\n".join(["/* The columns of a row, in their order:", *lines, " */", "", ""])
    return text.replace("<COLUMNS>", comment if lines else "")


def write_files(directory, texts):
    """Write files that appear whole or not at all."""
    directory = Path(directory)
    paths = [directory / name for name in texts]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with replacing_all(paths, "w", encoding="ascii", newline="\n") as files:
            for file, text in zip(files, texts.values(), strict=True):
                file.write(text)
    except OSError as error:
        raise CSourceError(
            f"{directory}: the C files cannot be written ({error.strerror or error}); give a "
            "directory that can."
        ) from error
    return tuple(paths)
