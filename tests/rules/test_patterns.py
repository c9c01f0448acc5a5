"""No regular expression of the package can be made to backtrack by what callers send.

Every expression in the source is pumped with texts made from its own parse tree. What counts is the
processor time of a text and of one four times as long, so that a busy machine changes nothing.
"""

import ast
import functools
import importlib
import itertools
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

import roost

# Python's own parser of expressions has no types; its tree is lists of operators and arguments.
parser = importlib.import_module("re._parser")
compiler = importlib.import_module("re._compiler")
Tree = Any

ROOT = Path(roost.__file__).parent
_FUNCTIONS = ("compile", "fullmatch", "match", "search", "sub", "split", "findall", "finditer")
_UNKNOWN = "1"
"""Stands for what only a call knows, a number in all cases."""


@dataclass(frozen=True)
class Expression:
    """One place of the source with an expression, and how it is used there."""

    module: str
    line: int
    text: str
    flags: int
    methods: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.module}:{self.line}"


def expressions() -> Iterator[Expression]:
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(("roost", *path.relative_to(ROOT).with_suffix("").parts))
        source = path.read_text()
        if "re." in source or "Pattern(" in source or "pattern=" in source:
            yield from in_module(name.removesuffix(".__init__"), ast.parse(source))


def in_module(name: str, tree: ast.Module) -> Iterator[Expression]:
    names = vars(importlib.import_module(name))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        for argument, method in arguments(call):
            text = evaluate(argument, names)
            if isinstance(text, str):
                methods = (method,) if method != "compile" else uses(tree, call)
                yield Expression(name, call.lineno, text, flags(call, names), methods)


def arguments(call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    """The expressions of a call, with the way in which each is matched."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="re"), attr=attr) if attr in _FUNCTIONS:
            yield call.args[0], attr
        case ast.Name(id="Pattern") if call.args:
            yield call.args[0], "fullmatch"
    for keyword in call.keywords:
        if keyword.arg == "pattern":
            yield keyword.value, "search"


def evaluate(node: ast.expr, names: dict[str, object]) -> object:
    """The value of a constant expression; None of one that is made elsewhere."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(evaluate(part, names)) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        value = evaluate(node.value, names)
        return _UNKNOWN if value is None else value
    try:
        return eval(compile(ast.Expression(node), "expression", "eval"), dict(names))
    except NameError:
        return None


def flags(call: ast.Call, names: dict[str, object]) -> int:
    given = (evaluate(each, names) for each in (*call.args, *(k.value for k in call.keywords)))
    return sum(int(value) for value in given if isinstance(value, re.RegexFlag))


def uses(tree: ast.Module, call: ast.Call) -> tuple[str, ...]:
    """What is done with a compiled expression in its module."""
    targets = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and node.value is call
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in targets
        and node.attr in _FUNCTIONS
    }
    return tuple(sorted(found)) or ("fullmatch", "search")


ALPHABET = [chr(n) for n in range(128)] + ["\xe9", "\u0661"]


class Pump:
    """Texts that an expression nearly matches, of any length."""

    def __init__(self, text: str, flags: int) -> None:
        self._flags = flags
        self._random = random.Random(text)
        self._accepted: dict[str, list[str]] = {}
        self._tree: Tree = parser.parse(text, flags)

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """What comes before, what is repeated, and what comes after."""
        for before, inner in dict.fromkeys(self._repeats(self._tree, "")):
            yield from itertools.product(("", before), self._units(inner), ("", "\0", "!", "\n"))

    def _units(self, inner: str) -> list[str]:
        return list(dict.fromkeys((*self._kinds(), *filter(None, inner.split("\r")))))

    def _kinds(self) -> list[str]:
        """One character of each kind that the expression tells from others."""
        kinds: dict[tuple[bool, ...], str] = {}
        for character in ALPHABET:
            accepts = tuple(character in accepted for accepted in self._accepted.values())
            if any(accepts):
                kinds.setdefault(accepts, character)
        return list(kinds.values())

    def _repeats(self, tree: Tree, before: str) -> Iterator[tuple[str, str]]:
        """What leads to each long repeat, and what may be repeated in it (split at returns)."""
        for kind, value in tree:
            for inner in _parts(str(kind), value):
                if str(kind) in REPEATS and value[1] >= LONG:
                    yield before, "\r".join(self._sample(inner) for _ in range(SAMPLES))
                yield from self._repeats(inner, before)
            before += self._node(str(kind), value)

    def _sample(self, tree: Tree) -> str:
        return "".join(self._node(str(kind), value) for kind, value in tree)

    def _node(self, kind: str, value: Tree) -> str:
        if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            accepted = self._characters(kind, value)
            return self._random.choice(accepted) if accepted else ""
        if kind in REPEATS:
            count = self._random.randint(value[0], min(int(value[1]), value[0] + 1))
            return "".join(self._sample(value[2]) for _ in range(count))
        if kind in ("ASSERT", "ASSERT_NOT", "AT", "GROUPREF"):
            return ""
        parts = _parts(kind, value)
        return self._sample(self._random.choice(parts)) if parts else ""

    def _characters(self, kind: str, value: Tree) -> list[str]:
        """Those of the alphabet that a single place of the expression accepts."""
        key = f"{kind} {value}"
        if key not in self._accepted:
            alone = parser.SubPattern(parser.State(), [(getattr(parser, kind), value)])
            alone.state.str = ""
            place = cast("re.Pattern[str]", compiler.compile(alone, self._flags))
            self._accepted[key] = [c for c in ALPHABET if place.fullmatch(c)]
        return self._accepted[key]


REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
LONG = 8
"""Times; what may be repeated less often takes no time."""
SAMPLES = 20


def _parts(kind: str, value: Tree) -> list[Tree]:
    """The trees within a node."""
    match kind:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [value[2]]
        case "SUBPATTERN":
            return [value[3]]
        case "ATOMIC_GROUP":
            return [value]
        case "BRANCH":
            return list(value[1])
        case "ASSERT" | "ASSERT_NOT":
            return [value[1]]
        case _:
            return []


FEW = (6, 10, 14, 18, 22)
"""Repeats at which a time that doubles with each is seen before it is too long to wait for."""
MOST_SECONDS = 0.02
LENGTH = 2000
SUSPICIOUS_SECONDS = 0.0005
MOST_GROWTH = 9
"""Times, for a text of four times the length: 4 when linear, 16 when quadratic."""


def weakness(text: str, flags: int, methods: Iterable[str]) -> str | None:
    """A text that the expression backtracks on; None when there is none among those tried."""
    expression = re.compile(text, flags)
    for before, unit, after in Pump(text, flags).texts():
        for method in methods:
            run = functools.partial(search, expression, method)
            for count in FEW:
                if seconds(run, before + unit * count + after) > MOST_SECONDS:
                    return f"{method} {before!r} + {count} * {unit!r} + {after!r}"
            if grows(run, functools.partial(pumped, before, unit, after)):
                return f"{method} {before!r} + {unit!r}… + {after!r}: more than linear"
    return None


def pumped(before: str, unit: str, after: str, length: int) -> str:
    return before + unit * (length // len(unit)) + after


def grows(run: Callable[[str], object], made: Callable[[int], str]) -> bool:
    short = seconds(run, made(LENGTH))
    if short < SUSPICIOUS_SECONDS:
        return False
    return seconds(run, made(4 * LENGTH)) > MOST_GROWTH * seconds(run, made(LENGTH))


def search(expression: "re.Pattern[str]", method: str, text: str) -> object:
    if method in ("sub", "split", "findall", "finditer"):
        return expression.sub("", text)
    return {
        "match": expression.match,
        "fullmatch": expression.fullmatch,
        "search": expression.search,
    }[method](text)


def seconds(run: Callable[[str], object], text: str) -> float:
    """Of the processor, the least of three: what else runs here may take the cache away."""
    least = float("inf")
    for _ in range(3):
        began = time.thread_time()
        run(text)
        least = min(least, time.thread_time() - began)
        if least < SUSPICIOUS_SECONDS:
            break
    return least


EXPRESSIONS = list(expressions())


def test_the_source_was_read() -> None:
    assert len(EXPRESSIONS) > 30
    assert {e.module for e in EXPRESSIONS} >= {"roost.settings", "roost.web.idempotency"}


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_no_text_makes_it_backtrack(expression: Expression) -> None:
    assert weakness(expression.text, expression.flags, expression.methods) is None


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (r"(-?)0*([0-9]+)", "fullmatch"),
        (r"(a+)+", "fullmatch"),
        (r"(?:a|a)*", "fullmatch"),
        (r"\((\d+)[.\d]*/100%\)", "search"),
        (r"[ \t]*(?:[a-z]+[ \t]*=[ \t]*[!-:<-~]*[ \t]*;?)*", "fullmatch"),
        (r"[ \t]*(?:x)?[ \t]*", "fullmatch"),
        (r"https?://[^\s/?#\"\\]+[\x21\x23-\x5b\x5d-\x7e]*", "fullmatch"),
        (r"\s+$", "search"),
    ],
)
def test_expressions_that_backtrack_are_found_out(text: str, method: str) -> None:
    assert weakness(text, 0, (method,)) is not None
