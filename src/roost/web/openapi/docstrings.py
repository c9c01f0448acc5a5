"""What stands below the fields of a class, in its source: the texts of the document.

Read when the document is made, so that no start pays for texts that nobody asks for.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache

Texts = Mapping[str, str]


def field_texts(described: type) -> Texts:
    """The text of each field, those of base classes included."""
    texts: dict[str, str] = {}
    for base in _bases(described):
        texts.update(field_texts(base))
    texts.update(_classes(described.__module__).get(described.__qualname__, {}))
    return texts


def paragraphs(docstring: str) -> str:
    """A docstring as Markdown: lines of a paragraph belong together."""
    blocks = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(_joined(block) for block in blocks)


def _joined(block: str) -> str:
    return block if block.startswith(("- ", "| ")) else " ".join(block.split("\n"))


def _bases(described: type) -> Iterator[type]:
    # A TypedDict is a dict to Python, whatever it was made of.
    for base in getattr(described, "__orig_bases__", described.__bases__):
        if isinstance(base, type) and base.__module__.startswith("roost."):
            yield base


@cache
def _classes(module: str) -> Mapping[str, Texts]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: dict(_fields(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in zip(node.body, node.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(docstring))),
            ):
                yield name, paragraphs(docstring)
