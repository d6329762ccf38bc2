"""Progress lines where no one watches a terminal."""

from nearlinear.cli._progress import counting, progress


def test_plain_lines_count_the_steps(capsys):
    with progress(2) as begin:
        begin("first")
        begin("second")
    captured = capsys.readouterr()
    assert captured.err.splitlines() == ["[1/2] first", "[2/2] second"]
    assert captured.out == ""


def test_a_terminal_sees_how_many_and_for_how_long(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with counting("rows") as count:
        count(7)
        count(1400)
    assert capsys.readouterr().err == "\r7 rows (0:00)\r1,400 rows (0:00)\n"


def test_no_one_else_sees_a_count(capsys):
    with counting("rows") as count:
        count(7)
    assert capsys.readouterr().err == ""
