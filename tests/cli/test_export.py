"""``nearlinear export``: the files that a person expects."""

import json
from functools import partial
from pathlib import Path

import pytest
from cli.fruit import table
from preparation.pipelines import STEPS
from preparation.pipelines import table as prepared_table
from sklearn.pipeline import make_pipeline

from nearlinear import LLSVMClassifier, save
from nearlinear.cli import main

JS_FILES = {"nearlinear.js", "nearlinear.d.ts", "model.nlm", "index.html"}
C_FILES = {"small.c", "small.h", "small_test.c", "small_cost.txt"}


@pytest.fixture
def model(tmp_path, fit, capsys):
    fit(table(tmp_path), "--target", "kind")
    capsys.readouterr()
    return tmp_path / "model.nlm"


@pytest.fixture
def refused(refused_command):
    return partial(refused_command, "export")


def export(capsys, *words):
    assert main(["export", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("words", [["--to", "onnx"], []])
def test_a_name_that_ends_in_onnx_is_a_file(model, tmp_path, capsys, words):
    out = tmp_path / "build" / "x.onnx"
    found = export(capsys, model, out, *words)
    assert found["file"] == str(out)
    assert out.is_file()
    assert "agrees" in found["check"]


def test_a_folder_gets_a_file(model, tmp_path, capsys):
    found = export(capsys, model, "--to", "onnx", tmp_path / "build")
    assert Path(found["file"]) == tmp_path / "build" / "model.onnx"


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_name_that_ends_in_c_is_that_of_the_source(model, tmp_path, capsys, dtype):
    found = export(capsys, model, tmp_path / "build" / "small.c", "--dtype", dtype)
    assert {path.name for path in (tmp_path / "build").iterdir()} == C_FILES
    assert found["tables"] == dtype
    assert "% of 200 drawn rows" in found["same_labels"]
    assert f"in {dtype}" in (tmp_path / "build" / "small.c").read_text()


def test_bytes_are_for_c_only(model, tmp_path, refused):
    assert "--dtype int8" in refused(model, tmp_path / "x.onnx", "--dtype", "int8")


def test_what_is_to_be_written_is_asked_for_and_must_suit_the_name(model, tmp_path, refused):
    assert "--to c, --to onnx, --to js or --to sql" in refused(model, tmp_path / "build")
    assert "--to is c" in refused(model, tmp_path / "x.onnx", "--to", "c")
    assert "not a folder" in refused(model, model, "--to", "c")


def test_a_folder_gets_the_module_the_model_and_a_page(model, tmp_path, capsys, refused):
    site = tmp_path / "site"
    found = export(capsys, model, "--to", "js", site)
    assert {path.name for path in site.iterdir()} == JS_FILES
    assert (site / "model.nlm").read_bytes() == model.read_bytes()
    assert "Node agrees" in found["check"] or "no Node" in found["check"]
    assert "exists" in refused(model, "--to", "js", site)
    assert "--dtype int8" in refused(model, "--to", "js", site, "--force", "--dtype", "int8")
    assert "is the input" in refused(model, "--to", "js", model.parent, "--force")


def test_a_name_that_ends_in_sql_is_a_statement_for_a_table(model, tmp_path, capsys, refused):
    found = export(capsys, model, tmp_path / "x.sql", "--table", "fruit", "--keep", "id")
    assert "DuckDB agrees" in found["check"]
    assert found["bytes"] == (tmp_path / "x.sql").stat().st_size
    assert 'FROM "fruit"' in (tmp_path / "x.sql").read_text()
    assert "exists" in refused(model, tmp_path / "x.sql")
    assert "are for SQL" in refused(model, tmp_path / "x.onnx", "--table", "fruit")


@pytest.mark.parametrize("name", ["x.onnx", "x.c"])
def test_earlier_files_are_replaced_only_by_force(model, tmp_path, refused, capsys, name):
    export(capsys, model, tmp_path / name)
    assert "exists" in refused(model, tmp_path / name)
    export(capsys, model, tmp_path / name, "--force")


def test_the_model_is_never_overwritten(model, tmp_path, refused):
    model.rename(tmp_path / "model.onnx")
    line = refused(tmp_path / "model.onnx", tmp_path / "model.onnx", "--force")
    assert "is the input" in line


@pytest.mark.parametrize("end", ["onnx", "c", "sql"])
def test_a_pipeline_of_python_is_exported_with_its_steps(end, tmp_path, capsys):
    columns, steps = STEPS["columns"]
    X, y = prepared_table()
    model = make_pipeline(steps, LLSVMClassifier(n_anchors=3, n_neighbors=2, random_state=0))
    save(model.fit(X[columns], y), tmp_path / "model.nlm")
    found = export(capsys, tmp_path / "model.nlm", tmp_path / f"x.{end}")
    assert "agree" in found["check"] or "scores are those" in found["check"]
