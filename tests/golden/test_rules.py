"""Every rule of docs/rules-a.md and docs/rules-b.md is named by a test, and every name is a rule.

The markers are read from the test files themselves, so that it does not matter which tests run.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.golden.gaps import check_gaps

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"## (?P<id>[AB] [\w -]+)")
RULE = re.compile(
    r'- <a id="(?P<anchor>[\w-]+)">\*\*(?P<id>[AB] [\w -]+)\*\*</a>: \S.*?[.]'
    r"(?P<unbuilt> \*\(not built yet\)\*)?"
)
CITATION = re.compile(r"\b[Ss]pec (?=[AB]\b)([^();:.]+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A section or a rule, and where it is on its page."""

    id: str
    anchor: str
    is_rule: bool
    built: bool


def anchor_of(entry_id: str) -> str:
    return entry_id.lower().replace(" ", "-")


def parse(document: str, text: str) -> list[Entry]:
    """The sections and rules of a document. Raises ValueError for a line that is neither."""
    return [parse_line(document, line) for line in text[text.index("\n## ") :].splitlines() if line]


def parse_line(document: str, line: str) -> Entry:
    heading, rule = HEADING.fullmatch(line), RULE.fullmatch(line)
    found = rule or heading
    if found is None or not found["id"].startswith(document):
        raise ValueError(f"neither a section nor a rule of document {document}: {line}")
    anchor = anchor_of(found["id"]) if rule is None else rule["anchor"]
    if anchor != anchor_of(found["id"]):
        raise ValueError(f"the anchor does not fit the id: {line}")
    return Entry(found["id"], anchor, rule is not None, rule is None or not rule["unbuilt"])


def named(source: str) -> Iterator[str]:
    """The rules that the tests of a file name, by decorators or for the whole file."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef):
            if node.name.startswith("test_"):
                yield from (rule for mark in node.decorator_list for rule in of_marker(mark))
        elif isinstance(node, ast.Assign) and _is_pytestmark(node):
            for mark in ast.walk(node.value):
                yield from of_marker(mark)


def of_marker(node: ast.AST) -> list[str]:
    """The arguments of `pytest.mark.spec(...)`, none for anything else."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "pytest.mark.spec":
        return []
    return [str(ast.literal_eval(argument)) for argument in node.args]


def _is_pytestmark(node: ast.Assign) -> bool:
    return any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets)


def cited(source: str) -> Iterator[str]:
    """What a file cites: `(spec A volumes 1)`, several ids with commas between."""
    for found in CITATION.finditer(" ".join(source.split())):
        yield from found[1].split(", ")


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return [
        entry
        for document in ("A", "B")
        for entry in parse(document, (ROOT / f"docs/rules-{document.lower()}.md").read_text())
    ]


@pytest.fixture(scope="module")
def tested() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return {rule for file in files for rule in named(file.read_text())}


def test_every_built_rule_is_named_by_a_test(entries: list[Entry], tested: set[str]) -> None:
    built = {entry.id for entry in entries if entry.is_rule and entry.built}
    check_gaps("untested_rules", built - tested)


def test_every_name_is_a_built_rule(entries: list[Entry], tested: set[str]) -> None:
    built = {entry.id for entry in entries if entry.is_rule and entry.built}
    assert tested - built == set(), "not in docs/rules-a.md or docs/rules-b.md, or not built there"


def test_every_citation_leads_to_a_rule_or_a_section(entries: list[Entry]) -> None:
    ids = {entry.id for entry in entries}
    wrong = {
        str(file.relative_to(ROOT)): lost
        for file in (ROOT / "src").rglob("*.py")
        if (lost := [each for each in cited(file.read_text()) if each not in ids])
    }
    assert wrong == {}


def test_anchors_are_unique(entries: list[Entry]) -> None:
    anchors = [entry.anchor for entry in entries]
    assert sorted(set(anchors)) == sorted(anchors)


@pytest.mark.parametrize(
    "line",
    [
        "Some text.",
        "### A volumes",
        "## Volumes",
        "## B volumes",
        "- A volumes 1: Only in one region.",
        '- <a id="a-volumes-2">**A volumes 1**</a>: Only in one region.',
        '- <a id="b-volumes-1">**B volumes 1**</a>: Only in one region.',
        '- <a id="a-volumes-1">**A volumes 1**</a>: Only in one region',
        '- <a id="a-volumes-1">**A volumes 1**</a>: ',
        '- <a id="a-volumes-1">**A volumes 1**</a>: Only in one region. *(not yet)*',
    ],
)
def test_lines_that_are_malformed(line: str) -> None:
    with pytest.raises(ValueError, match=r"the anchor|neither a section"):
        parse("A", f"# Rules\n\n## A volumes\n\n{line}\n")


def test_lines_that_are_sound() -> None:
    text = """# Rules

## A volumes

- <a id="a-volumes-1">**A volumes 1**</a>: Only in one region.
- <a id="a-volumes-2">**A volumes 2**</a>: Never *smaller*. *(not built yet)*
"""
    assert parse("A", text) == [
        Entry("A volumes", "a-volumes", is_rule=False, built=True),
        Entry("A volumes 1", "a-volumes-1", is_rule=True, built=True),
        Entry("A volumes 2", "a-volumes-2", is_rule=True, built=False),
    ]


def test_which_citations_are_found() -> None:
    source = "One (spec A volumes; reference: x). Two (spec B account 3, B account\n    4)."
    assert list(cited(source)) == ["A volumes", "B account 3", "B account 4"]


def test_which_markers_count() -> None:
    source = """
import pytest
pytestmark = [pytest.mark.spec("one"), pytest.mark.other("no")]
@pytest.mark.spec("two", "three")
async def test_it(): ...
@pytest.mark.spec("four")
def helper(): ...
"""
    assert list(named(source)) == ["one", "two", "three"]
