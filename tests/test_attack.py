"""``make attack`` still runs: a little of some parts, and a finding is counted."""

import json

import pytest

from attack import apart, report
from attack.__main__ import main


# The other parts share their code with tests of their own.
@pytest.mark.parametrize("part", ["kills", "inputs"])
def test_a_little_of_a_part_finds_nothing(part, tmp_path, capsys):
    assert main([part, "--smoke", "--folder", str(tmp_path)]) == 0, capsys.readouterr().out
    counts = json.loads((tmp_path / "results.json").read_text())[part]["counts"]
    assert all(count["findings"] == [] for count in counts)
    assert counts[0]["tried"] > 0
    assert f"| {part} | {counts[0]['what']} |" in (tmp_path / "results.md").read_text()


ENDING = """
import os, sys
first, count, work = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for number in range(first, first + count):
    open(work + "/last", "w").write(str(number))
    if number == 3:
        os.abort()
    if number == 5:
        print("case 5, wrong")
print('{"good": %d}' % count)
"""


def test_a_crash_is_a_finding_and_the_rest_goes_on(tmp_path):
    found = apart.numbered(ENDING, "numbers", 0, 8, tmp_path, timeout=60)
    assert found.tried == 8
    assert found.outcomes == {"ended": 1, "good": 4}
    crash, wrong = found.findings
    assert crash.startswith("case 3 ended its process: exit code -6")
    assert wrong == "case 5, wrong"
    report.save("numbers", [found], 1.0, tmp_path)
    assert "- numbers, numbers: case 5, wrong" in (tmp_path / "results.md").read_text()
