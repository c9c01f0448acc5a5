"""The operations of the API in a dialect's words."""

from collections.abc import Mapping
from dataclasses import dataclass

from roost.dialect.answers import compile_answers
from roost.dialect.filters import compile_filters
from roost.dialect.table import Dialect
from roost.web.openapi.schemas import build_schemas
from roost.web.registry import Registry
from roost.web.translation import Rewrite

UNSPOKEN = ("send_batch",)
"""Operations that no dialect has: what a batch is made of is in the API's own words."""


@dataclass(frozen=True, slots=True)
class Operations:
    """All that a dialect offers, and how answers and filters change, by the operation's name."""

    registry: Registry
    answers: Mapping[str, Rewrite]
    filters: Mapping[str, Rewrite]


def compile_operations(dialect: Dialect, registry: Registry) -> Operations:
    """It takes some tenths of a second: the schemas of all records are made for it."""
    schemas = build_schemas(registry)
    return Operations(
        registry,
        compile_answers(dialect, registry, schemas),
        compile_filters(dialect, registry, schemas),
    )
