"""From the document to one page: everything inside, nothing asked from outside."""

import base64
import hashlib
import html
import json
import math
import re
from pathlib import Path

import numpy as np

from .._files import replacing
from .._version import __version__
from .contents import contents
from .subject import subject_of
from .what_if import packed_model, packed_regions

LARGEST, _MOST_OF_MODEL = 2_000_000, 1_500_000  # bytes of a page, and of the model in it
_FOLDER = Path(__file__).parent / "browser"
_SCRIPTS = (  # the last one begins
    "base", "marks", "charts", "effect", "front", "map", "story", "measures", "matters", "controls",
    "reasons", "changes", "pasted", "panel", "main",
)  # fmt: skip
_MODULE = Path(__file__).parents[1] / "js" / "nearlinear.js"


def write_report(model, X, y, path, *, preparation=None, judge=None, peers=None, **names):
    """A page about a model, written whole or not at all.

    Parameters
    ----------
    model, preparation :
        A fitted model, and the steps before it or None.
    X, y : table or array, array
        Rows that the model, or the judge, has not seen, and their answers.
    path : str or path
    judge : model, pipeline or None
        What answers where rows are judged. None is the model.
    peers : list of dict or None
        Alternatives, as ``nearlinear compare --json`` tells them under "models".
    names : str
        ``title``, ``target``, ``data``, ``file`` (of the model): what these are called.
    """
    subject = subject_of(model, X, y, preparation, judge, **names)
    text = page(subject, peers)
    with replacing(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def page(subject, peers=None):
    """The text of the page."""
    document = contents(subject, peers)
    packed, reason = packed_model(subject)
    if document["what_if"] is None:
        packed, reason = "", "Rows of so many columns have no panel."
    if packed is not None and len(packed) > _MOST_OF_MODEL:
        size = f"{len(packed) / 1e6:.1f} MB"
        packed, reason = "", f"The model takes {size}, which is too much for a page of 2 MB."
    document["what_if_reason"] = reason
    text = _filled(document, packed or "", packed_regions(subject) if packed else "")
    if len(text.encode()) > LARGEST:
        raise ValueError(
            f"The report would be {len(text.encode()) / 1e6:.1f} MB: give fewer columns or rows."
        )
    return text


def _filled(document, packed, regions):
    style = (_FOLDER / "page.css").read_text("utf-8")
    script = script_text()
    parts = {
        "POLICY": _policy(style, script),
        "VERSION": __version__,
        "TITLE": html.escape(document["title"]).encode(errors="replace").decode(),
        "STYLE": style,
        "CONTENTS": json_text(document),
        "MODEL": packed,
        "REGIONS": regions if len(packed) + len(regions) <= _MOST_OF_MODEL else "",
        "SCRIPT": script,
    }
    template = (_FOLDER / "page.html").read_text("utf-8")
    # in one pass: what is put in is not looked at again
    return re.sub(r"@([A-Z]+)@", lambda found: parts[found[1]], template)


def script_text():
    """One script in strict mode: the module that runs models, and the page's own parts."""
    own = "\n".join((_FOLDER / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    module = _inlined(_MODULE.read_text("utf-8"))
    found = f'"use strict";\n{module}\n(() => {{\n{own}\n}})();\n'
    if "</script" in found.lower() or "<!--" in found:
        raise ValueError("The script of the page would end itself.")
    return found


def _inlined(module):
    """A module without imports as an object of what it exports."""
    names = re.findall(r"^export (?:async )?(?:function|class|const|let) (\w+)", module, re.M)
    for listed in re.findall(r"^export \{([^}]*)\};?$", module, re.M):
        names += [name.strip() for name in listed.split(",") if name.strip()]
    module = re.sub(r"^export \{[^}]*\};?$", "", module, flags=re.M)
    module = re.sub(r"^export (?=(?:async )?(?:function|class|const|let) )", "", module, flags=re.M)
    return f"const nearlinear = (() => {{\n{module}\nreturn {{ {', '.join(names)} }};\n}})();"


def _policy(style, script):
    """Nothing from outside; of scripts and styles those that stand in the page."""

    def digest(text):
        found = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return f"'sha256-{found}'"

    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def json_text(document):
    """JSON that may stand in a page: no sign of it ends a script."""
    text = json.dumps(_plain(document), allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _plain(value):
    """Plain values alone; None for what is no number."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
