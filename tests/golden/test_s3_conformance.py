"""The page on conformance to S3: each test of the public suite once, and hardly any fault."""

import re
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/s3-conformance.md"
_ROW = re.compile(r"(?m)^\| `(\w+)` \| `(\w+)` \| (pass|refused|other|fault) \| (.*?) ?\|$")
_COUNT = re.compile(r"(?m)^\| (pass|refused|other|fault) \| (\d+) \|")


def test_hardly_any_fault() -> None:
    rows = _ROW.findall(PAGE.read_text())
    assert len({row[:2] for row in rows}) == len(rows) > 500
    found = Counter(row[2] for row in rows)
    assert found["fault"] <= 0.03 * (found["pass"] + found["fault"])
    assert all(why for *_, said, why in rows if said != "pass")


def test_the_counts_are_those_of_the_table() -> None:
    text = PAGE.read_text()
    told = {said: int(count) for said, count in _COUNT.findall(text)}
    assert Counter(told) == Counter(row[2] for row in _ROW.findall(text))
