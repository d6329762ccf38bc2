"""``python -m release check [TAG]``: is it ready? ``python -m release notes``: what is new."""

import argparse
import itertools
import sys

from release.findings import look, verdict
from release.versions import (
    changes,
    disagreements,
    recipe_disagreements,
    tag_objections,
    undated,
    version,
)


def check(tag):
    """All looks, the quick ones first; with a tag, those that a release itself must pass, too."""
    # packages of the group "release", which notes can do without
    from release import artifacts, environments, metadata

    findings = [
        look("one version everywhere", disagreements),
        look("the recipe agrees with pyproject.toml", recipe_disagreements),
        look("the day of the release", undated),
    ]
    if tag:
        findings.append(look(f"tag {tag}", tag_objections, tag))
    findings.append(look("build", artifacts.build))
    if not findings[-1].missing:
        findings += [
            look("metadata", metadata.objections),
            look("contents of the wheel", artifacts.wheel_objections),
            look("contents of the sdist", artifacts.sdist_objections),
        ]
        files = (artifacts.wheel(), artifacts.sdist())
        for versions, file in itertools.product(environments.RESOLUTIONS, files):
            name = f"{file.name} with the {versions} versions"
            findings.append(look(name, environments.smoke_objections, file, versions))
        print(f"sha256 of the sdist, for the recipe: {artifacts.sha256(files[1])}")
    is_ready, sentence = verdict(findings, version())
    print(sentence)
    return is_ready


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("command", choices=["check", "notes"])
    parser.add_argument("tag", nargs="?", help="vX.Y.Z or vX.Y.ZrcN, about to be released")
    options = parser.parse_args()
    if options.command == "notes":
        print(changes()[2])
        sys.exit(0)
    sys.exit(not check(options.tag))
