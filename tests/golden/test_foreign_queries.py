"""Groups meet through the kit: none imports the queries of another one.

The pairs that do so still are listed; the list only gets shorter.
"""

from collections.abc import Iterator

import grimp

from tests.golden.gaps import check_gaps

GROUPS = "roost.resources"


def test_no_other_group_knows_its_tables() -> None:
    check_gaps("foreign_queries", set(_pairs()))


def _pairs() -> Iterator[str]:
    """`volumes -> compute` where a module of volumes imports queries of compute."""
    graph = grimp.build_graph("roost", cache_dir=None)
    for module in graph.find_descendants(GROUPS):
        if module.rpartition(".")[2].endswith("queries"):
            owner = _group(module)
            importers = graph.find_modules_that_directly_import(module)
            own = (_group(each) for each in importers if each.startswith(f"{GROUPS}."))
            yield from (f"{group} -> {owner}" for group in own if group != owner)


def _group(module: str) -> str:
    return module.split(".")[2]
