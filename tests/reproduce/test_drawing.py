"""The command line of the figures."""

import matplotlib.pyplot as plt
import pytest

from reproduce import drawing


@pytest.fixture
def draw(study):
    """Runs the command line; the figures drawn, by number and number of seeds."""
    drawn = []
    figures = {
        number: lambda folder, seeds, number=number: drawn.append((folder, number, seeds))
        for number in (1, 2)
    }

    def run(*arguments):
        arguments = [*map(str, arguments), "--results", str(study.folder)]
        status = drawing.main(study, figures, lambda folder: drawn.append(folder), arguments)
        assert status == 0
        return drawn

    return run


def test_all_figures_are_drawn_unless_some_are_named(draw, study):
    assert draw() == [(study.folder, 1, 3), (study.folder, 2, 3)]


def test_one_figure_can_be_named(draw, study):
    assert draw(2, "--seeds", 5) == [(study.folder, 2, 5)]


def test_a_figure_that_does_not_exist_is_refused(draw, capsys):
    with pytest.raises(SystemExit):
        draw(3)
    assert "there is no figure 3" in capsys.readouterr().err


def test_small_figures_go_elsewhere(draw, study):
    (folder,) = draw("--smoke")
    assert folder != study.folder
    assert not folder.exists()


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_a_figure_keeps_its_layout(tmp_path, layout):
    figure, _ = plt.subplots(layout=layout)
    engine = figure.get_layout_engine()
    drawing.save_figure(figure, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 0
    assert layout is None or figure.get_layout_engine() is engine
