"""Every rule of the specification is named by a test, and every name is a rule.

The markers are read from the test files themselves, so that it does not matter which tests run.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.gaps import check_gaps, read_list

TESTS = Path(__file__).parents[1]


def rules() -> list[str]:
    return [line.partition(" | ")[0] for line in read_list("rules")]


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


@pytest.fixture(scope="module")
def tested() -> set[str]:
    files = TESTS.rglob("test_*.py")
    return {rule for file in files for rule in named(file.read_text())}


def test_every_rule_is_named_by_a_test(tested: set[str]) -> None:
    check_gaps("untested_rules", set(rules()) - tested)


def test_every_name_is_a_rule(tested: set[str]) -> None:
    assert tested - set(rules()) == set(), "add these to tests/golden/rules.txt"


def test_every_rule_is_listed_once_with_words() -> None:
    assert len(set(rules())) == len(rules())
    assert all(line.partition(" | ")[2].strip() for line in read_list("rules"))


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
