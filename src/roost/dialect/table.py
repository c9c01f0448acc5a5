"""What a dialect is: the same API in another cloud's words, declared as data.

Each rule is written once, from our word to theirs. Answers are translated that way; requests are
translated by exchanging both, so that our own words mean nothing to who speaks the dialect.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """How the text of a field is changed, or each text of a list: what it begins with, or all."""

    field: str
    ours: str
    theirs: str
    whole: bool = False
    many: bool = False
    """Whether the field holds a list."""
    records: frozenset[str] = frozenset()
    """Records of ours whose field it is, where it is no enumeration; empty: all that have it."""

    def forth(self, text: str) -> str | None:
        """Our text in their words; None when the rule is not about it."""
        return self._exchange(text, self.ours, self.theirs)

    def back(self, text: str) -> str | None:
        """The other way."""
        return self._exchange(text, self.theirs, self.ours)

    def _exchange(self, text: str, old: str, new: str) -> str | None:
        if self.whole:
            return new if text == old else None
        return new + text[len(old) :] if text.startswith(old) else None


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """Fields of later revisions that records have, with plain values."""

    under: tuple[str, ...]
    """What the paths begin with, in our words."""
    beside: str
    """A field that each such record has once, and nothing within it."""
    fields: Mapping[str, object]
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Copied:
    """A field that later revisions have under another name too."""

    under: tuple[str, ...]
    """What the paths begin with, in our words."""
    field: str
    """A number, a text without quotes, or null."""
    later: str


@dataclass(frozen=True, slots=True, eq=False)
class Dropped:
    """A field that clients send where it means nothing, and the API refuses it."""

    path: str
    """A pattern of our paths."""
    field: str
    unless: Mapping[str, str]
    """What the body, or else the record that it changes, says where the field does mean
    something."""
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Unfiltered:
    """A field of later revisions by which lists are filtered that do not have it here."""

    path: str
    """In our words."""
    field: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """A refusal of what a body names, which there is answered as what is not found."""

    path: str
    """In our words."""
    field: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """A list of later revisions, of which there is nothing here."""

    path: str
    """In our words."""
    scopes: tuple[str, ...]
    summary: str


@dataclass(frozen=True, eq=False)
class Dialect:
    """One cloud's words for the API."""

    name: str
    product: tuple[str, str]
    """The product's name in paths, areas of scopes (with an `s`) and texts: ours and theirs."""
    vendor: tuple[str, str]
    """What the ids of public images and kernels begin with, before their slash."""
    vendor_paths: tuple[str, ...]
    """After which such an id follows, in our words."""
    keys: Mapping[str, str]
    """Names of fields."""
    values: tuple[Value, ...]
    scope_fields: frozenset[str]
    """Fields that hold scopes."""
    path_fields: frozenset[str]
    """Fields that hold paths of the API."""
    words: Mapping[str, str]
    """What else texts that people read say otherwise: words, or what they begin with."""
    reasons: Mapping[tuple[str, str], str]
    """Whole reasons of refusals, by the last name of their field and what we say."""
    opaque_fields: frozenset[str]
    """Fields whose value is the caller's own."""
    opaque_paths: frozenset[str]
    """Paths whose bodies are the caller's own."""
    added: tuple[Added, ...]
    copied: tuple[Copied, ...]
    doubled_paths: frozenset[str]
    """Paths whose answer later revisions have in a field `data` too."""
    dropped: tuple[Dropped, ...]
    unfiltered: tuple[Unfiltered, ...]
    missing: tuple[Missing, ...]
    lists: tuple[Lists, ...]
    any_redirect_query: bool
    """Whether OAuth clients may be answered at their redirect URI with another query."""

    @cached_property
    def products_exchanged(self) -> tuple[tuple[str, str], ...]:
        """What paths begin with that are named after the product: theirs and ours, both ways."""
        ours, theirs = (f"/{name}/" for name in self.product)
        return (theirs, ours), (ours, theirs)

    @cached_property
    def vendors_exchanged(self) -> tuple[tuple[str, str], ...]:
        """What paths begin with that name a public image or kernel, in our words otherwise."""
        ours, theirs = (f"{name}/" for name in self.vendor)
        return tuple(
            (path + old, path + new)
            for path in self.vendor_paths
            for old, new in ((theirs, ours), (ours, theirs))
        )

    @cached_property
    def keys_exchanged(self) -> Mapping[str, str]:
        """Names of fields in requests: theirs to ours, and ours to what means nothing."""
        return {**self.keys, **{theirs: ours for ours, theirs in self.keys.items()}}

    @cached_property
    def values_by_field(self) -> Mapping[str, tuple[Value, ...]]:
        fields: dict[str, list[Value]] = {}
        for value in self.values:
            fields.setdefault(value.field, []).append(value)
        return {key: tuple(of) for key, of in fields.items()}
