"""A source of blocks that ends its reader after some parts."""


class DyingSource:
    """As another source, until ``n_parts_left`` parts are read; then ``error`` is raised."""

    def __init__(self, source, n_parts_left, error):
        self._source, self._left, self._error = source, n_parts_left, error
        self.n_parts, self.block_rows = source.n_parts, source.block_rows

    def part(self, number):
        self._left -= 1
        if self._left < 0:
            raise self._error
        yield from self._source.part(number)
