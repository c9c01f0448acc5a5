"""Texts that people read, and scopes wherever they stand: in addresses, forms and pages."""

import re
from functools import cache

from roost.dialect.table import Dialect

_COLON = r"(?=:|%3[Aa]|%253[Aa])"
"""As it stands in a scope, also in an address and in an address within one."""


@cache
def _scopes(dialect: Dialect) -> re.Pattern[bytes]:
    ours, theirs = dialect.product
    return re.compile(rf"(?:{ours}|{theirs})s{_COLON}".encode())


def exchange_scopes(dialect: Dialect, text: bytes) -> bytes:
    """With our scopes in their words, and theirs in ours."""
    ours, theirs = (f"{name}s".encode() for name in dialect.product)
    return _scopes(dialect).sub(lambda found: theirs if found[0] == ours else ours, text)


@cache
def _words(dialect: Dialect) -> tuple[re.Pattern[str], dict[str, str]]:
    (ours, theirs), (vendor, their_vendor) = dialect.product, dialect.vendor
    beginnings = {f"{vendor}/": f"{their_vendor}/", **dialect.words}
    known = {**beginnings, ours.title(): theirs.title(), ours: theirs}
    # The product may be part of a name: `compute_id`, `add_computes`, `{computeId}`.
    product = rf"(?<![A-Za-z]){ours}(?=s?(?![a-z]))"
    title = rf"\b{ours.title()}(?=s?\b)"
    others = "|".join(rf"\b{re.escape(word)}" for word in beginnings)
    return re.compile(f"{others}|{title}|{product}"), known


def say(dialect: Dialect, text: str) -> str:
    """A text for people in their words."""
    pattern, known = _words(dialect)
    return pattern.sub(lambda found: known[found[0]], text)
