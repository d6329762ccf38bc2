"""The one exception that a command ends with when its input is at fault."""


class CommandError(Exception):
    """A sentence for the user: what was wrong, where, and what to do. Exit code 2, no traceback."""
