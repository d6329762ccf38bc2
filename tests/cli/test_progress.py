"""Progress lines where no one watches a terminal."""

from nearlinear.cli._progress import progress


def test_plain_lines_count_the_steps(capsys):
    with progress(2) as begin:
        begin("first")
        begin("second")
    captured = capsys.readouterr()
    assert captured.err.splitlines() == ["[1/2] first", "[2/2] second"]
    assert captured.out == ""
