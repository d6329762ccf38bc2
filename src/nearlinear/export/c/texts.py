"""Columns of text in C: a row holds codes in their place, which a generated function knows."""

import re

import numpy as np

from ...runtime.columns.read_rows import loose_numbers, of_read_rows, raw_sources, read_before
from ...runtime.columns.readings import plain_numbers
from .literals import CSourceError, filled, string_literal, wrapped

HEADER = """/* The code of a text in a column of text, -1 for one that the model does not know.
 * A row holds the code in that column, NAN where a text is missing. */
int @_code(int column, const char *text);
"""
_CODE = """
/* Texts in the order of their bytes, column by column; and their codes. */
static const char *const @_texts[] = {
<TEXTS>
};
static const <CODE_TYPE> @_text_codes[] = {
<CODES>
};

static int @_compare(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return (int) (unsigned char) *a - (int) (unsigned char) *b;
}

int @_code(int column, const char *text)
{
    size_t low, high;
    switch (column) {
<CASES>
    default:
        return -1;
    }
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const int order = @_compare(text, @_texts[middle]);
        if (order == 0)
            return (int) @_text_codes[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}
"""
_CASE = """    case <COLUMN>:
        low = <LOW>, high = <HIGH>;
        break;"""


def of_coded_rows(preparation):
    """A preparation of rows that hold codes for texts, and the texts of each such column."""
    if preparation is None:
        return None, {}
    read, texts = read_before(preparation), {}
    for one in read:
        if texts.setdefault(one.column, one.of) != one.of or one.unknown == "missing":
            raise CSourceError(
                f"Column {one.column} of text is encoded in two ways, or unknown texts of it are "
                "missing values, and a C row has one code for a text: encode it once."
            )
    return of_read_rows(preparation, [one.column for one in read]), texts


def merged_texts(found):
    """Texts by column, of several models that take the same rows."""
    texts = {}
    for one in found:
        for column, words in one.items():
            if texts.setdefault(column, words) != words:
                raise CSourceError(
                    f"The models that are averaged know other texts in column {column}, and a C "
                    "row has one code for a text: encode the column before the whole model."
                )
    return texts


def coded(preparation, rows):
    """Rows with codes in place of texts."""
    rows = np.asarray(rows)
    read = (*read_before(preparation), *loose_numbers(preparation))
    readings = {one.column: one for one in read}
    found = np.zeros(rows.shape)
    for column in raw_sources(preparation):
        cells = rows[:, column]
        number = readings.get(column, plain_numbers)
        found[:, column] = number(cells, np.dtype(np.float64))
    return found


def code_text(program, texts):
    """C text of the function, without the texts themselves; ``program`` counts their bytes."""
    if not texts:
        return ""
    ordered = _ordered(texts)
    ends = np.cumsum([0, *(len(found) for found in ordered.values())]).tolist()
    cases = [
        filled(_CASE, column=column, low=low, high=high)
        for column, low, high in zip(ordered, ends, ends[1:])
    ]
    codes = [code for found in ordered.values() for _, code in found]
    if not codes:
        return ""
    kind = "unsigned short" if max(codes) < 1 << 16 else "unsigned int"
    n_bytes = sum(len(_bytes(text)) + 1 for found in ordered.values() for text, _ in found)
    program.record_bytes += n_bytes + (6 if kind == "unsigned short" else 8) * len(codes)
    return filled(
        _CODE, cases="\n".join(cases), code_type=kind, codes=wrapped([str(code) for code in codes])
    )


def _ordered(texts):
    """Of each column its texts in the order of their bytes, with their codes."""
    return {
        column: sorted(((text, k) for k, text in enumerate(found)), key=lambda one: _bytes(one[0]))
        for column, found in texts.items()
    }


def _bytes(text):
    return text.encode("utf-8", "surrogatepass")


def with_foreign(text, **pieces):
    """C text with foreign text in place of <NAME>, in one pass: nothing in it is replaced again."""
    marks = "|".join(f"<{name.upper()}>" for name in pieces)
    return re.sub(marks, lambda found: pieces[found.group()[1:-1].lower()], text)


def text_lines(texts):
    return ",\n".join(
        f"    {_category_literal(text, column)}"
        for column, coded_texts in _ordered(texts).items()
        for text, _ in coded_texts
    )


def _category_literal(text, column):
    return string_literal(text, f"category {{}} of column {column}")


# --- the test program ---------------------------------------------------------------------------

_ROW_TEXTS = """
/* Texts of the rows, 0 where one is missing; and their columns. */
static const char *const texts[N_ROWS][<COUNT>] = {
<TEXTS>
};
static const int text_columns[<COUNT>] = {
<COLUMNS>
};
"""
_ENCODE = """
        float row[@@_N_FEATURES];
        for (int d = 0; d < @@_N_FEATURES; d++)
            row[d] = rows[i][d];
        for (int t = 0; t < <COUNT>; t++)
            if (texts[i][t] != 0)
                row[text_columns[t]] = (float) @_code(text_columns[t], texts[i][t]);"""


def row_texts(texts):
    """C text of the tables of a test program, and of what it does with them."""
    if not any(texts.values()):
        return "", ""
    columns, count = wrapped([str(column) for column in texts]), len(texts)
    return filled(_ROW_TEXTS, count=count, columns=columns), filled(_ENCODE, count=count)


def row_text_lines(texts, rows):
    """The texts of coded rows; one that no column has stands for those that are unknown."""
    unknown = "?"
    while any(unknown in found for found in texts.values()):
        unknown += "?"

    def literal(code, column):
        if np.isnan(code):
            return "0"
        is_known = 0 <= code < len(texts[column])
        return _category_literal(texts[column][int(code)] if is_known else unknown, column)

    lines = [", ".join(literal(row[d], d) for d in texts) for row in rows]
    return ",\n".join(f"    {{{line}}}" for line in lines)
