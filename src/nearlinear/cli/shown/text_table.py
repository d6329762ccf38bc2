"""Tables of text: the first column to the left, numbers to the right."""


def text_table(header, rows, *, rules=()):
    """Lines of a table; a rule stands below the header and below the rows of these numbers."""
    widths = [max(len(str(cell)) for cell in column) for column in zip(header, *rows)]
    lines = [_line(cells, widths) for cells in (header, *rows)]
    rule = "─" * max(map(len, lines))
    found = [lines[0], rule]
    for number, line in enumerate(lines[1:], start=1):
        found += [line, rule] if number in rules else [line]
    return "\n".join(found)


def _line(cells, widths):
    first, *numbers = (
        str(cell).rjust(width) if place else str(cell).ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths))
    )
    return "   ".join([first, *numbers])
