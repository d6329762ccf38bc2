"""Which differences between the Gaussian MLLKM and the other methods are more than luck."""

from reproduce.comparison import SIGNIFICANT, compare_rows, markdown_table, mean_and_spread
from reproduce.mllkm.methods import STUDY, TITLES
from reproduce.report import save, shown_datasets, test_columns

REFERENCE = "mllkm_g"
# Three tenths of the rows test, seven tenths train.
TEST_SHARE = 3 / 7


def lines_of(cells):
    """The reference less every other method, paired over splits."""
    for dataset in shown_datasets(STUDY, cells):
        for method in TITLES:
            rows, others = (cells.get((name, dataset), []) for name in (REFERENCE, method))
            test = compare_rows(rows, others, test_share=TEST_SHARE)
            if method != REFERENCE and test is not None:
                yield {
                    "dataset": dataset,
                    "method": method,
                    "measured": _mean_accuracy(rows),
                    "other": _mean_accuracy(others),
                    "splits": test.n,
                    **test_columns(test),
                    "verdict": _verdict(test),
                }


def _mean_accuracy(rows):
    return mean_and_spread([row["accuracy"] for row in rows])[0]


def _verdict(test):
    if not test.t_p < SIGNIFICANT:
        return "level"
    return "better" if test.difference > 0 else "worse"


def overview(lines):
    """Methods by data sets; a cell is the difference in accuracy with both p-values."""
    found = {(line["method"], line["dataset"]): line for line in lines}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    body = [
        [title] + [_cell(found.get((method, name))) for name in names]
        for method, title in TITLES.items()
        if any((method, name) in found for name in names)
    ]
    return markdown_table([f"{TITLES[REFERENCE]}, less", *names], body)


def _cell(line):
    if line is None:
        return "–"
    p_values = f"p = {line['t_p']:.2g}, {line['wilcoxon_p']:.2g}"
    return f"{line['difference']:+.1f} **{line['verdict']}**<br>({p_values})"


def write(folder, cells):
    lines = list(lines_of(cells))
    note = (
        "Points of accuracy, paired over splits. In brackets: the t-test corrected for training "
        "parts that overlap (Nadeau and Bengio, 2003), by which the verdict is, and Wilcoxon's "
        "signed ranks, which nothing corrects. No p is corrected for the number of tests.\n\n"
    )
    title = f"{TITLES[REFERENCE]}, beside every other method"
    save(folder, "significance", title, lines, note + overview(lines) + "\n")
