"""``to_js``: a fitted model for browsers and Node: its file, the module that reads it, a page.

The module is ``nearlinear/js/nearlinear.js``, written by hand: nothing is generated but the page.
"""

import re
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._files import replacing_all
from .._hints import FilePath
from ..kinds import KINDS
from ..runtime.container import ModelFileError, from_bytes
from .file import save

MODULE, TYPES = "nearlinear.js", "nearlinear.d.ts"
_KIND = re.compile(r"^  (\w+): kind\(", re.M)

# Short on purpose: people shall read it and write their own. So it does not hold the module and the
# model, and needs a server; a page that is whole in itself is what a report is for.
_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width" />
<title>A model of nearlinear</title>
<h1>A model of nearlinear</h1>
<form></form>
<pre>If this stays, serve the folder (python -m http.server) and open http://localhost:8000</pre>
<script type="module">
  import { load } from "./nearlinear.js";

  const model = load(await (await fetch("./<MODEL>")).arrayBuffer());
  const form = document.querySelector("form");
  for (const { name, kind, categories = [] } of model.columns) {
    const label = form.appendChild(document.createElement("label"));
    const cell = document.createElement(categories.length ? "select" : "input");
    cell.name = name;
    if (categories.length) for (const one of ["", ...categories]) cell.add(new Option(one));
    else if (kind === "number") cell.value = 0;
    label.append(`${name} `, cell, document.createElement("br"));
  }
  form.oninput = () => {
    let answer = "";
    try {
      const rows = [Object.fromEntries(new FormData(form))];
      answer = { label: model.predict(rows)[0], ...model.contributions(rows)[0] };
      if (model.givesProbabilities) answer.probabilities = model.predictProba(rows)[0];
    } catch (error) {
      answer = error.message;
    }
    document.querySelector("pre").textContent = JSON.stringify(answer, null, 2);
  };
  form.oninput();
</script>
</html>
"""


class JsExportError(ValueError):
    """The model has no place in nearlinear.js, or the files cannot be written."""


@dataclass(frozen=True)
class JsFiles:
    """What ``to_js`` has written.

    Attributes
    ----------
    module, types, model, page : Path
        The files.
    n_bytes : int
        Bytes of the module and the model together: what a browser loads.
    """

    module: Path
    types: Path
    model: Path
    page: Path
    n_bytes: int


def to_js(model: Any, directory: FilePath, *, name: str = "model") -> JsFiles:
    """Write a fitted model for JavaScript: browsers, and Node from 18 on.

    ``nearlinear.js`` is one module without dependencies. It reads the model's file with the checks
    of Python's readers, and gives scores, labels, probabilities, regions and contributions.
    ``index.html`` shows how, on a web server. All files appear whole or not at all.

    Parameters
    ----------
    model : estimator, Pipeline, search or wrapper
        Fitted: all that ``save`` takes.
    directory : str or path
        A folder; it is made.
    name : str, default="model"
        The model's file is called this, and ``.nlm``.

    Returns
    -------
    JsFiles

    Raises
    ------
    JsExportError
        The model has a kind from outside, or the files cannot be written.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.nlm"
        save(model, path)
        return write_js(path.read_bytes(), directory, name)


def write_js(data, directory, name="model"):
    """The same for the bytes of a model file."""
    try:
        header, _ = from_bytes(data)
    except ModelFileError as error:
        raise JsExportError(str(error)) from error
    _check_kinds([header["predictor"], header.get("members"), header.get("outcome")])
    directory = Path(directory)
    page = _PAGE.replace("<MODEL>", f"{name}.nlm").encode()
    module, types = (module_text(one).encode() for one in (MODULE, TYPES))
    contents = {MODULE: module, TYPES: types, f"{name}.nlm": data, "index.html": page}
    paths = [directory / one for one in contents]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with replacing_all(paths) as opened:
            for file, content in zip(opened, contents.values(), strict=True):
                file.write(content)
    except OSError as error:
        raise JsExportError(
            f"{directory}: the files cannot be written ({error.strerror or error}); give a folder "
            "that can."
        ) from error
    return JsFiles(*paths, len(module) + len(data))


def module_text(name=MODULE):
    """The module, or the file of its types."""
    return files("nearlinear").joinpath("js", name).read_text(encoding="utf-8")


def _check_kinds(descriptions):
    """Refuse kinds that were registered from outside: the module has no functions for them."""
    waiting = [*descriptions]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            kind = value.get("kind")
            if value.get("$") == "object" and kind not in KINDS:
                raise JsExportError(
                    f"{kind} comes from outside of nearlinear, and nearlinear.js knows nothing of "
                    "it: fit with a kind of ours, or export to ONNX or C."
                )
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


# Kinds that the module has a rule for, as it lists them itself.
RULES = dict.fromkeys(_KIND.findall(module_text()), MODULE)
