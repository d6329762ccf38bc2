"""Text that comes from a file of somebody else, on its way to a terminal or a table."""

import re

# Control characters, which steer a terminal; marks that turn the direction of text around; and
# halves of characters, which no encoding can write.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)  # fmt: skip


def shown(text, keep=""):
    """``text`` with escapes such as \\x1b for all that is unsafe to print, but for ``keep``."""

    def escaped(found):
        return found[0] if found[0] in keep else found[0].encode("unicode_escape").decode()

    return _UNSAFE.sub(escaped, str(text))
