"""A function without a body is declared by its SQL (`roost.store.query`).

The type checker keeps silent about others where there are such functions, though one that has no
body returns nothing, whatever its signature says.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "roost"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_functions_without_a_body_are_queries() -> None:
    assert [
        f"{path.relative_to(SOURCE)}:{each.lineno} {each.name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for each in _functions(ast.parse(path.read_text()))
        if _returns(each) and not _has_body(each) and not _is_declared(each)
    ] == []


def _functions(part: ast.Module | ast.ClassDef) -> Iterator[Function]:
    for node in part.body:
        if isinstance(node, ast.ClassDef) and "Protocol" not in map(_name, node.bases):
            yield from _functions(node)
        if isinstance(node, Function):
            yield node


def _returns(function: Function) -> bool:
    return function.returns is not None and ast.unparse(function.returns) != "None"


def _has_body(function: Function) -> bool:
    return not all(
        isinstance(each, ast.Pass)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in function.body
    )


def _is_declared(function: Function) -> bool:
    names = map(_name, function.decorator_list)
    return bool({"query", "overload", "abstractmethod"}.intersection(names))


def _name(expression: ast.expr) -> str:
    """`query` of `@query("select 1")`, `Protocol` of `Protocol[T]`."""
    inner = expression
    while isinstance(inner, ast.Call | ast.Subscript):
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    return ast.unparse(inner)
