"""Pages link to files of the repository as GitHub shows them; the site has ends of its own.

A page of ``PAGES`` only names a file of the repository; the site shows the file in its place.
A link to such a file leads to that page, one to an example to its page in the gallery, and one to
any other file outside docs/ to the repository.
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
LINK = re.compile(r"(!?)\[((?:[^\]\n]|\n(?!\n))*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def shown_file(app, docname):
    """The file whose text a page shows."""
    return Path(app.srcdir).parent / PAGES.get(docname, app.env.doc2path(docname))


def shown_text(app, docname, text):
    """The text of a page as the site has it, given what its own file holds."""
    root, page, shown = (
        Path(app.srcdir).parent,
        Path(app.env.doc2path(docname)),
        shown_file(app, docname),
    )
    if shown != page:
        title, text = text.partition("\n")[0], shown.read_text("utf-8")
        text = text if text.startswith("# ") else f"{title}\n\n{text}"

    def from_page(file):
        return Path(os.path.relpath(file, page.parent)).as_posix()

    def end_of(link):
        picture, words, path, anchor = link.group(1), link[2], link[3], link[4] or ""
        file = Path(os.path.normpath(shown.parent / path))
        if not file.exists() or not file.is_relative_to(root):
            return link[0]
        name = file.relative_to(root).as_posix()
        if name == PLAYGROUND:
            return f'<a href="{from_page(file)}">{words}</a>'
        if picture or file.is_relative_to(app.srcdir):
            return f"{picture}[{words}]({from_page(file)}{anchor})"
        if re.fullmatch(r"examples/(\w+/)?plot_\w+\.py", name):
            example = Path(
                app.srcdir, "gallery", *file.with_suffix(".rst").parts[len(root.parts) + 1 :]
            )
            return f"[{words}]({from_page(example)})"
        for known, repository_file in PAGES.items():
            if name == repository_file:
                return f"[{words}]({from_page(Path(app.srcdir, f'{known}.md'))}{anchor})"
        kind = "tree" if file.is_dir() else "blob"
        return f"[{words}]({app.config.repository_url}/{kind}/main/{name}{anchor})"

    return LINK.sub(end_of, text)


def on_read(app, docname, source):
    if app.env.doc2path(docname).suffix == ".md":
        app.env.note_dependency(shown_file(app, docname))
        source[0] = shown_text(app, docname, source[0])


def setup(app):
    app.add_config_value("repository_url", "", "env")
    app.connect("source-read", on_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
