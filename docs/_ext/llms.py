"""For language models: llms.txt names every page in a line, and each page is there as Markdown.

The form of the file is that of llmstxt.org. llms-full.txt holds all pages, one after the other.
"""

import re
from pathlib import Path

from repository_links import shown_text

LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def first_sentence(text):
    """Of the first paragraph that is prose."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for paragraph in re.split(r"\n\s*\n", prose)[1:]:
        if re.match(r"[^\s#|!<*-]|\*\*", paragraph):
            words = " ".join(LINK.sub(r"\1", paragraph).split()).replace("**", "")
            return re.split(r"(?<=[.])\s", words)[0]
    return ""


def sections(app):
    """Titles of the parts of the site, and the pages in each, as the navigation has them."""
    known = app.env.toctree_includes
    for part in known[app.config.root_doc]:
        pages, waiting = [], [part]
        while waiting:
            page = waiting.pop(0)
            if app.env.doc2path(page).suffix == ".md":
                pages.append(page)
            waiting = [*known.get(page, []), *waiting]
        if pages:
            yield app.env.titles[part].astext(), pages


def write(app, error):
    if error is not None or app.builder.name != "html":
        return
    lines, full = [f"# {app.config.project}", "", f"> {app.config.llms_summary}", ""], []
    for title, pages in sections(app):
        lines += [f"## {title}", ""]
        for page in pages:
            text = shown_text(app, page, Path(app.env.doc2path(page)).read_text("utf-8"))
            target = Path(app.outdir, f"{page}.md")
            target.write_text(text, "utf-8")
            full.append(text)
            about = first_sentence(text)
            link = f"[{app.env.titles[page].astext()}]({app.config.html_baseurl}{page}.md)"
            lines.append(f"- {link}: {about}" if about else f"- {link}")
        lines.append("")
    Path(app.outdir, "llms.txt").write_text("\n".join(lines), "utf-8")
    Path(app.outdir, "llms-full.txt").write_text("\n\n".join(full), "utf-8")


def setup(app):
    app.add_config_value("llms_summary", "", "env")
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
