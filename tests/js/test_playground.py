"""The playground holds the module that is here."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_it_has_the_module_and_the_page_as_they_are():
    made = (ROOT / "docs/playground/index.html").read_text("utf-8")
    module = (ROOT / "src/nearlinear/js/nearlinear.js").read_text("utf-8")
    is_new = module.replace("\nexport ", "\n") in made
    assert is_new, "run: python docs/playground/make.py"
    for name in ("page.js", "page.css"):
        is_new = (ROOT / "docs/playground" / name).read_text("utf-8") in made
        assert is_new, "run: python docs/playground/make.py"
