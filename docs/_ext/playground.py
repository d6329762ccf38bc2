"""The playground is one page that needs nothing: it is copied beside the site's own pages."""

from pathlib import Path
from shutil import copyfile


def copy_page(app, error):
    if error is None and app.builder.format == "html":
        target = Path(app.outdir, "playground", "index.html")
        target.parent.mkdir(exist_ok=True)
        copyfile(Path(app.srcdir, "playground", "index.html"), target)


def setup(app):
    app.connect("build-finished", copy_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
