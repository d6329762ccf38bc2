"""Sizes of the project beside their limits in pyproject.toml: ``python tools/budget.py``.

Python code is counted after ``ruff format --line-length 100`` without ``# fmt: skip``, so that no
layout saves a line. Docstrings, comments and blank lines are free. Parameters and fitted attributes
are those of the public estimators.
"""

import ast
import inspect
import io
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# JavaScript, C and templates have a budget of their own.
OTHER_CODE = {".js", ".mjs", ".ts", ".c", ".h", ".html", ".css", ".sql"}
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def count_code_lines(folder):
    """Code lines and files of Python, and lines of other languages, in a folder."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "copy"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        files = sorted(copy.rglob("*.py"))
        for path in files:
            text = path.read_text("utf-8")
            path.write_text(re.sub(r"[ \t]*#\s*fmt:\s*(skip|off|on)\b.*", "", text), "utf-8")
        ruff = [sys.executable, "-m", "ruff", "format", "-q", "--isolated", "--line-length", "100"]
        subprocess.run([*ruff, str(copy)], check=True)
        lines = sum(_code_lines(path.read_text("utf-8")) for path in files)
        others = [p for p in copy.rglob("*") if p.suffix in OTHER_CODE]
        return lines, len(files), sum(len(p.read_text("utf-8").splitlines()) for p in others)


def _code_lines(text):
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def count_interface():
    """Parameters and documented attributes of the public estimators, each with distinct names."""
    import nearlinear

    names = [n for n in nearlinear.__all__ if n.endswith(("Classifier", "Regressor"))]
    estimators = [getattr(nearlinear, name) for name in names]
    parameters = [p for e in estimators for p in inspect.signature(e).parameters]
    attributes = [a for e in estimators for a in _attributes(e)]
    return len(parameters), len(set(parameters)), len(attributes), len(set(attributes))


def _attributes(estimator):
    text = inspect.cleandoc(estimator.__doc__)
    section = re.search(r"^Attributes\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", text, re.M | re.S)
    entries = re.findall(r"^(\S[^\n:]*?)(?: : [^\n]*)?\n {4}\S", section.group(1), re.M)
    return [name.strip() for names in entries for name in names.split(",")]


def measure():
    """All sizes by the names that pyproject.toml uses."""
    src, src_files, src_other = count_code_lines(ROOT / "src")
    tests, _, _ = count_code_lines(ROOT / "tests")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    parameters, parameter_names, attributes, attribute_names = count_interface()
    return {
        "src_code_lines": src,
        "src_files": src_files,
        "src_other_lines": src_other,
        "tests_code_lines": tests,
        "repository_files": len(tracked),
        "parameters": parameters,
        "parameter_names": parameter_names,
        "attributes": attributes,
        "attribute_names": attribute_names,
    }


def main():
    with open(ROOT / "pyproject.toml", "rb") as file:
        limits = tomllib.load(file)["tool"]["nearlinear"]["budget"]
    sizes = measure()
    for name, size in sizes.items():
        verdict = "" if size <= limits[name] else "  EXCEEDED"
        print(f"{name:20s} {size:7,d} of {limits[name]:7,d}{verdict}")
    return int(any(size > limits[name] for name, size in sizes.items()))


if __name__ == "__main__":
    sys.exit(main())
