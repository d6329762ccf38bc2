"""What every model does with rows of a table: products, distances, sums."""

_MATRIX = {
    False: """
typedef struct {
    const float *values;
    size_t width;
} $;
""",
    True: """
/* Row r is scales[r] times its whole numbers. */
typedef struct {
    const int8_t *values;
    const float *scales;
    size_t width;
} $;
""",
}

_DOT = {
    False: """
static float $(const @_matrix *rows, size_t row, const float *x)
{
    const float *values = rows->values + row * rows->width;
    float sum = 0.0f;
    for (size_t d = 0; d < rows->width; d++)
        sum += values[d] * x[d];
    return sum;
}
""",
    True: """
static float $(const @_matrix *rows, size_t row, const float *x)
{
    const int8_t *values = rows->values + row * rows->width;
    float sum = 0.0f;
    for (size_t d = 0; d < rows->width; d++)
        sum += (float)values[d] * x[d];
    return rows->scales[row] * sum;
}
""",
}

_ENTRY = {
    False: """
static float $(const @_matrix *rows, size_t row, size_t d)
{
    return rows->values[row * rows->width + d];
}
""",
    True: """
static float $(const @_matrix *rows, size_t row, size_t d)
{
    return rows->scales[row] * (float)rows->values[row * rows->width + d];
}
""",
}

_SQUARE = """
/* The squared distance of x from a row. */
static float $(const @_matrix *rows, size_t row, const float *x)
{
    float sum = 0.0f;
    for (size_t d = 0; d < rows->width; d++) {
        const float away = x[d] - @_entry(rows, row, d);
        sum += away * away;
    }
    return sum;
}
"""

_NORMALIZE = """
/* Divides numbers by their sum. */
static void $(float *values, size_t n)
{
    float sum = 0.0f;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    for (size_t i = 0; i < n; i++)
        values[i] /= sum;
}
"""


def matrix(program):
    """The type of a table of rows."""
    return program.define("matrix", _MATRIX[program.is_int8])


def dot(program):
    """(rows, row, x): the product of x with a row."""
    matrix(program)
    return program.define("dot", _DOT[program.is_int8])


def entry(program):
    """(rows, row, d): one number of a row."""
    matrix(program)
    return program.define("entry", _ENTRY[program.is_int8])


def square(program):
    """(rows, row, x): the squared distance of x from a row."""
    entry(program)
    return program.define("square", _SQUARE)


def normalize(program):
    """(values, n): numbers divided by their sum."""
    return program.define("normalize", _NORMALIZE)
