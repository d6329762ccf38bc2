"""Pages link to files of the repository as GitHub shows them; the site has ends of its own.

A page of ``PAGES`` only names a file of the repository; the site shows the file in its place.
A link to such a file leads to that page, and a link to any other file outside docs/ to where the
repository is, if ``repository_url`` says so; else Sphinx offers the file to be downloaded.
"""

import os
import re
from pathlib import Path

PAGES = {
    "changelog": "CHANGELOG.md",
    "develop/contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
    "results/front": "benchmarks/results/front.md",
}
PLAYGROUND = "docs/playground/index.html"
LINK = re.compile(r"(!?)\[([^\]\n]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def show(app, docname, source):
    root, page = Path(app.srcdir).parent, Path(app.env.doc2path(docname))
    shown = root / PAGES[docname] if docname in PAGES else page
    if shown != page:
        app.env.note_dependency(shown)
        title = source[0].partition("\n")[0]
        text = shown.read_text("utf-8")
        source[0] = text if text.startswith("# ") else f"{title}\n\n{text}"

    def from_page(file):
        return Path(os.path.relpath(file, page.parent)).as_posix()

    def end_of(link):
        picture, text, path, anchor = link.group(1), link[2], link[3], link[4] or ""
        file = Path(os.path.normpath(shown.parent / path))
        if not file.exists() or not file.is_relative_to(root):
            return link[0]
        name = file.relative_to(root).as_posix()
        if name == PLAYGROUND:
            return f'<a href="{from_page(file)}">{text}</a>'
        if picture or file.is_relative_to(app.srcdir):
            return f"{picture}[{text}]({from_page(file)}{anchor})"
        for known, repository_file in PAGES.items():
            if name == repository_file:
                return f"[{text}]({from_page(Path(app.srcdir, f'{known}.md'))}{anchor})"
        if not app.config.repository_url:
            return text if file.is_dir() else f"[{text}](path:{from_page(file)})"
        kind = "tree" if file.is_dir() else "blob"
        return f"[{text}]({app.config.repository_url}/{kind}/main/{name}{anchor})"

    source[0] = LINK.sub(end_of, source[0])


def setup(app):
    app.add_config_value("repository_url", "", "env")
    app.connect("source-read", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
