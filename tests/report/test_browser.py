"""The page in a browser: Debian's chromium, headless, through playwright.

``make test-browser`` brings playwright and axe-core; without these, or without chromium, the tests
are skipped. NEARLINEAR_CHROMIUM and NEARLINEAR_AXE name others.
"""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from report.conftest import HOSTILE

from nearlinear import save
from nearlinear.report.regions import regions_of

ROOT = Path(__file__).parents[2]
PLAYGROUND = ROOT / "docs" / "playground" / "index.html"
CHROMIUM = os.environ.get("NEARLINEAR_CHROMIUM") or shutil.which("chromium")
AXE = Path(
    os.environ.get("NEARLINEAR_AXE", ROOT / ".venv/browser/node_modules/axe-core/axe.min.js")
)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PHONE, DESKTOP = {"width": 360, "height": 700}, {"width": 1100, "height": 800}

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: make test-browser brings it"
)
if CHROMIUM is None:
    pytest.skip("there is no chromium: apt install chromium", allow_module_level=True)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, headless=True)
        yield found
        found.close()


def page_of(browser, path, wrong):
    """A page, and what it says and asks for that it should not."""
    page = browser.new_context(viewport=DESKTOP, color_scheme="light").new_page()
    page.on("console", lambda one: wrong.append(one.text))
    page.on("pageerror", lambda one: wrong.append(str(one)))
    page.on("request", lambda one: wrong.append(one.url) if "file:" not in one.url else None)
    page.goto(path.as_uri())
    return page


@pytest.fixture(scope="module")
def opened(browser, classes, values, tmp_path_factory):
    """Pages by task, and all that went wrong on them."""
    folder, found, wrong = tmp_path_factory.mktemp("pages"), {}, []
    for name, (model, X, y) in {"classes": classes, "values": values}.items():
        path = folder / f"{name}.html"
        model.report(X, y, path, title=HOSTILE, target="size")
        page = page_of(browser, path, wrong)
        page.wait_for_function("document.documentElement.dataset.ready")
        page.wait_for_selector("#raw-answer", state="attached")
        found[name] = page
    yield found
    assert wrong == []  # of all that the tests have done


def answer(page):
    """What the panel says of its row, once it has said it."""
    page.wait_for_selector("#answer[data-busy=no]", state="attached")
    return json.loads(page.text_content("#raw-answer"))


def asked(page, row):
    """The scores of a row that is pasted."""
    page.evaluate("document.querySelector('details.paste').open = true")
    page.fill("#paste", json.dumps(row))
    page.click("#use-paste")
    return answer(page)["scores"]


def plain(row):
    cells = {k: v.isoformat()[:10] if hasattr(v, "isoformat") else v for k, v in row.items()}
    return {k: None if v != v else v for k, v in cells.items()}


def test_pictures_are_drawn(opened):
    for page in opened.values():
        assert page.text_content("h1") == HOSTILE
        pictures = page.locator("figure .place svg").evaluate_all(
            "all => all.map((one) => [one.getBoundingClientRect().width, one.childNodes.length,"
            " one.getAttribute('aria-label')])"
        )
        assert len(pictures) > 8
        assert all(width > 100 and parts > 1 and label for width, parts, label in pictures)
    assert opened["classes"].locator("#confusion tbody tr").count() == 3
    assert "are Python's" in opened["values"].text_content("#page-time")


def test_points_of_the_front_are_clicked_and_reached_by_keys(opened):
    page = opened["values"]
    points = page.locator("#front-chart .point")
    seen = set()
    for place in range(points.count()):
        points.nth(place).click(force=True)
        seen.add(page.text_content("#front-card"))
    assert len(seen) == points.count() > 1
    assert any("nearlinear fit" in one for one in seen)
    points.first.focus()
    page.keyboard.press("Enter")
    assert points.first.get_attribute("aria-pressed") == "true"


def test_the_panel_says_what_python_says(opened, classes, values):
    for name, (model, X, _) in {"classes": classes, "values": values}.items():
        rows = X.iloc[:4]
        scores = model.decision_function(rows) if name == "classes" else model.predict(rows)
        for row, score in zip(rows.to_dict("records"), scores.reshape(4, -1), strict=True):
            np.testing.assert_allclose(asked(opened[name], plain(row)), score, rtol=1e-6, atol=1e-6)
            assert np.isnan(row["width"]) == opened[name].is_checked(
                "input[aria-label^='width is']"
            )


def test_the_panel_names_the_region(opened, values, told):
    subject, document = told["values"]
    numbers = [one["number"] for one in document["regions"]["regions"]]
    found = regions_of(subject.model.predictor_, subject.encoded[:6])[1]
    assert "nodes" not in document["regions"]
    assert len(set(found)) > 1
    for row, number in zip(values[1].iloc[:6].to_dict("records"), found, strict=True):
        asked(opened["values"], plain(row))
        place = numbers.index(number) + 1
        assert opened["values"].text_content("#facts-more") == f" · region {place}"


def test_a_slider_moves_the_score_to_what_python_says(opened, classes):
    model, X, _ = classes
    page, row = opened["classes"], X.iloc[[1]].copy()
    asked(page, plain(row.to_dict("records")[0]))
    slider = page.locator("input[type=range][aria-label='width, slider']")
    slider.evaluate("(one) => { one.value = 6.5; one.dispatchEvent(new Event('input')); }")
    row["width"] = float(slider.input_value())
    page.select_option("select[id^='column-']", "flat")
    row["kind"] = "flat"
    said = answer(page)
    np.testing.assert_allclose(
        said["scores"], model.decision_function(row)[0], rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(said["chances"], model.predict_proba(row)[0], rtol=1e-6, atol=1e-6)
    assert page.text_content("#answer-label") == str(model.predict(row)[0])


def test_the_nearest_change_flips_the_label(opened, classes):
    page = opened["classes"]
    asked(page, plain(classes[1].iloc[[2]].to_dict("records")[0]))
    before = page.text_content("#answer-label")
    promised = page.text_content("#changes li span").rpartition(" gives ")[2]
    page.click("#changes li button")
    answer(page)
    assert page.text_content("#answer-label") == promised != before


def test_a_line_of_csv_is_a_row(opened, classes):
    model, X, _ = classes
    row = X[X["kind"] == "007"].iloc[[0]]
    page = opened["classes"]
    page.fill("#paste", row.to_csv(index=False, lineterminator="\n"))
    page.click("#use-paste")
    said = answer(page)["scores"]
    np.testing.assert_allclose(said, model.decision_function(row)[0], rtol=1e-6, atol=1e-6)


def test_a_row_that_cannot_be_read_is_told_in_a_sentence(opened):
    page = opened["classes"]
    page.fill("#paste", "1,2")
    page.click("#use-paste")
    assert "The line has 2 cells" in page.text_content(".paste [role=status]")


def test_phones_scroll_in_one_direction_only(opened):
    for page in opened.values():
        page.set_viewport_size(PHONE)
        page.wait_for_timeout(150)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        page.set_viewport_size(DESKTOP)


def grave_faults(page):
    """What axe-core calls serious or critical."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return [
        (one["id"], one["nodes"][0]["html"], one["nodes"][0].get("failureSummary"))
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: make test-browser brings it")
def test_nothing_keeps_people_out(opened):
    for name, page in opened.items():
        if name == "classes":
            page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        else:
            page.click("#theme")
            assert page.get_attribute("html", "data-theme") == "dark"
        assert grave_faults(page) == []


def test_models_of_the_playground_answer(browser, classes, tmp_path):
    """Each of its models tells of a row that moves, and a model of one's own is read."""
    wrong, path = [], tmp_path / "own.nlm"
    page = page_of(browser, PLAYGROUND, wrong)
    for number in range(page.locator("#plane-model option").count()):
        page.select_option("#plane-model", str(number))
        page.click("#plane-canvas", position={"x": 60, "y": 60})
        before = page.inner_text("#plane-told")
        page.click("#plane-canvas", position={"x": 400, "y": 330})
        assert page.inner_text("#plane-told") != before
    for kind in ("regions", "support"):
        page.select_option("#plane-view", kind)
    page.click("#tab-digits")
    before = page.inner_text("#digits-told")
    page.click("#digits-next")
    assert page.inner_text("#digits-told") != before
    page.click("#tab-own")
    model = classes[0]
    save(model, path)
    page.set_input_files("#file", path)
    page.wait_for_selector("#own-told h2")
    assert page.inner_text("#own-told h2") in [str(label) for label in model.classes_]
    if AXE.exists():
        assert grave_faults(page) == []
    assert wrong == []
