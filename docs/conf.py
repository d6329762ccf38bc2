"""The site: `make docs` builds it with its gallery, `make docs-quick` runs no example."""

import sys
import tomllib
from pathlib import Path

import nearlinear

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
SITE = URLS["Documentation"].rstrip("/") + "/"

project = "nearlinear"
author = "the nearlinear developers"
copyright = author
version = release = nearlinear.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx_sitemap",
    "sphinxext.opengraph",
    "llms",
    "mathml",
    "playground",
    "repository_links",
]
exclude_patterns = ["_ext", "playground"]
nitpicky = True

# Pages are Markdown that GitHub shows as well: no directives but toctrees, and cards on one page.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
repository_url = URLS["Source"]

autosummary_generate = True
autodoc_typehints = "none"
smartquotes = False  # defaults are Python: "auto", not “auto”
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_baseurl = SITE
html_title = "nearlinear"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"  # by docutils when the site is built: no script and no network
html_theme_options = {
    "logo": {
        "text": "nearlinear",
        "image_light": "_static/logo-light.svg",
        "image_dark": "_static/logo-dark.svg",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "github_url": URLS["Source"],
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "quickstart": []}

ogp_site_url = SITE
ogp_site_name = "nearlinear"
ogp_image = "_static/card.png"
ogp_image_alt = "Accuracy against prediction time, ours beside boosted trees and networks"
ogp_social_cards = {"enable": False}  # one card for all pages, made once
ogp_description_length = 200
llms_summary = nearlinear.__doc__
sitemap_url_scheme = "{link}"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

TOPICS = ["tables", "tuning", "calibration", "budgets", "explain", "deploy", "streams", "methods"]
# The names of the examples have no spaces; the warning is about the folder of the repository.
suppress_warnings = ["sphinx_gallery.space_in_filename"]

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": "/plot_",
    "subsection_order": [f"../examples/{topic}" for topic in TOPICS],
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": True,
    "doc_module": ("nearlinear",),
    "backreferences_dir": "api/backreferences",
    "reference_url": {"nearlinear": None},
    "reset_modules": ("matplotlib",),
    "abort_on_example_error": True,
    "min_reported_time": 5,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
}


def skip_member(app, what, name, member, skip, options):
    """What scikit-learn gives to all of its estimators is told there."""
    module = getattr(member, "__module__", None)
    return skip or (callable(member) and not str(module).startswith("nearlinear"))


def setup(app):
    app.connect("autodoc-skip-member", skip_member)
