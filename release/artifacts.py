"""The two files of a release, and what may be in them."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from release.versions import ROOT

DIST = ROOT / "dist"
# What rows and fitted models come in: none of it belongs to a package.
DATA = {".npz", ".npy", ".csv", ".parquet", ".nlm", ".onnx", ".pkl", ".joblib", ".png"}
ALLOWED = {PurePosixPath("nearlinear/cli/data/penguins.csv")}  # the table of `nearlinear demo`
# Folders of the repository without which the tests of the sdist do not run.
BESIDE_TESTS = ("attack", "benchmarks", "docs", "examples", "recipe", "release", "reproduce", "src")
MOST_MEGABYTES = {"wheel": 2.0, "sdist": 8.0}


def build():
    """Make dist/ anew; sentences if that fails."""
    shutil.rmtree(DIST, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", DIST, ROOT],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        return ["The files cannot be built:\n" + done.stdout[-2000:] + done.stderr[-2000:]]
    return []


def wheel():
    return next(DIST.glob("*.whl"))


def sdist():
    return next(DIST.glob("*.tar.gz"))


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wheel_objections():
    """The package, all of it, and nothing else."""
    names = {PurePosixPath(one) for one in zipfile.ZipFile(wheel()).namelist()}
    inside = {one for one in names if one.parts[0] == "nearlinear"}
    wrong = [
        f"The wheel has {one}, which is no part of the package."
        for one in sorted(names - inside)
        if not one.parts[0].endswith(".dist-info")
    ]
    wrong += [
        f"The wheel has data: {one}." for one in sorted(inside - ALLOWED) if one.suffix in DATA
    ]
    wanted = {PurePosixPath(one).relative_to("src") for one in _tracked("src/nearlinear")}
    wrong += [f"The wheel lacks {one}." for one in sorted(wanted - inside)]
    wrong += [f"The wheel has {one}, which git does not know." for one in sorted(inside - wanted)]
    for needed in ("nearlinear/py.typed", "nearlinear/js/nearlinear.js"):
        if PurePosixPath(needed) not in inside:
            wrong.append(f"The wheel lacks {needed}.")
    return wrong + _too_large("wheel", wheel())


def sdist_objections():
    """All that the tests read, and nothing that git does not know."""
    with tarfile.open(sdist()) as file:
        inside = {"/".join(PurePosixPath(one).parts[1:]) for one in file.getnames()}
    wrong = [
        f"The sdist has {one}, which git does not know."
        for one in sorted(inside - set(_tracked(".")) - {"PKG-INFO"})
    ]
    wanted = {one for one in _tracked(".") if _is_needed(one)}
    wrong += [f"The sdist lacks {one}." for one in sorted(wanted - inside)]
    return wrong + _too_large("sdist", sdist())


def _is_needed(name):
    first = name.partition("/")[0]
    is_result = name.startswith("benchmarks/results/")
    return first in ("tests", *BESIDE_TESTS) and not is_result


def _tracked(folder):
    """Files that git knows, those that are new and not ignored among them."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return [name for name in listed if (ROOT / name).exists()]


def _too_large(kind, path):
    megabytes = Path(path).stat().st_size / 1e6
    if megabytes <= MOST_MEGABYTES[kind]:
        return []
    return [f"The {kind} has {megabytes:.1f} MB, more than {MOST_MEGABYTES[kind]:.0f}."]
