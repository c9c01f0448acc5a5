"""Policies of buckets: which ones are taken, and what they say of a request.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-policies.html
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from roost.engines.gateway.actions import GRANTED, LISTS, NEEDS
from roost.engines.gateway.faults import S3Error, invalid, not_built

Effect: TypeAlias = Literal["Allow", "Deny"]
Json: TypeAlias = Mapping[str, object]

MOST_BYTES = 20 << 10
_MOST_STATEMENTS = 50
_MOST_SEARCHED = 2048
"""Characters of a policy that stand between two `*`: each may cost as many steps as a name has
characters."""
_VERSIONS = ("2012-10-17", "2008-10-17")
_ARN = "arn:aws:s3:::"
_PRINCIPAL = re.compile("(?:arn:aws:iam:::user/)?([A-Z0-9]{16,128})")
_ELEMENTS = frozenset(("Sid", "Effect", "Principal", "Action", "Resource", "Condition"))
_TURNED = ("NotPrincipal", "NotAction", "NotResource")
_PUT = frozenset(("s3:PutObject",))
_ALL = frozenset(NEEDS)
CONDITIONS: Mapping[str, frozenset[str]] = {
    "s3:prefix": LISTS,
    "s3:delimiter": LISTS,
    "s3:x-amz-copy-source": _PUT,
    "s3:x-amz-metadata-directive": _PUT,
    "s3:x-amz-acl": _PUT,
    "aws:referer": _ALL,
    "aws:useragent": _ALL,
}
"""Keys of conditions, and the actions whose requests have them: whoever sends a parameter with
another request changes nothing."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text in which `*` stands for any characters, also none.

    Its parts are looked for one after the other, each once: there is no way back.
    """

    parts: tuple[str, ...]

    @property
    def searched(self) -> int:
        """Characters whose place is not known."""
        return sum(map(len, self.parts[1:-1]))

    def fits(self, text: str) -> bool:
        first, *rest = self.parts
        if not rest:
            return text == first
        if not text.startswith(first):
            return False
        *middle, last = rest
        place = len(first)
        for part in middle:
            place = text.find(part, place)
            if place < 0:
                return False
            place += len(part)
        return len(text) - len(last) >= place and text.endswith(last)


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody wants to do."""

    action: str
    resource: str
    """`bucket`, or `bucket/object`."""
    access_key: str | None
    fact: Callable[[str], str | None]
    """What the request has of a key of conditions; None: nothing."""


@dataclass(frozen=True, slots=True)
class Condition:
    key: str
    negated: bool
    if_exists: bool
    """Whether it holds for a request that has nothing of the key."""
    absent: bool | None = None
    """Whether there has to be nothing of the key; None: its value counts."""
    patterns: tuple[Pattern, ...] = ()
    ignores_case: bool = False

    def holds(self, asked: Asked) -> bool:
        said = asked.fact(self.key) if asked.action in CONDITIONS[self.key] else None
        if self.absent is not None:
            return (said is None) is self.absent
        if said is None:
            return self.negated or self.if_exists
        said = said.lower() if self.ignores_case else said
        return any(each.fits(said) for each in self.patterns) is not self.negated


@dataclass(frozen=True, slots=True)
class Statement:
    effect: Effect
    principals: frozenset[str] | None
    """Access keys; None: everybody."""
    actions: frozenset[str]
    resources: tuple[Pattern, ...]
    conditions: tuple[Condition, ...]

    def holds(self, asked: Asked) -> bool:
        return (
            asked.action in self.actions
            and (self.principals is None or asked.access_key in self.principals)
            and any(each.fits(asked.resource) for each in self.resources)
            and all(each.holds(asked) for each in self.conditions)
        )


@dataclass(frozen=True, slots=True)
class Policy:
    statements: tuple[Statement, ...]

    @property
    def is_public(self) -> bool:
        """Whether it lets in people of whom it says nothing that they cannot make up."""
        return any(each.effect == "Allow" and each.principals is None for each in self.statements)

    def patterns(self) -> Iterator[Pattern]:
        for statement in self.statements:
            yield from statement.resources
            for condition in statement.conditions:
                yield from condition.patterns

    def decides(self, asked: Asked) -> Effect | None:
        """A denial comes before all; None: nothing is said."""
        held = {each.effect for each in self.statements if each.holds(asked)}
        return "Deny" if "Deny" in held else "Allow" if held else None


@lru_cache(maxsize=1024)
def policy_of(text: str, label: str) -> Policy:
    """The policy of a bucket. Raises S3Error: 400 for what is none, 501 for what S3 has besides."""
    document = _read(text)
    _check_elements(document, frozenset(("Version", "Id", "Statement")))
    if document.get("Version", _VERSIONS[0]) not in _VERSIONS:
        raise _malformed(f"The version of a policy is {_VERSIONS[0]}")
    found = document.get("Statement")
    statements = found if isinstance(found, list) else [found]
    if not 1 <= len(statements) <= _MOST_STATEMENTS:
        raise _malformed(f"A policy has 1 to {_MOST_STATEMENTS} statements")
    policy = Policy(tuple(_statement(each, label) for each in statements))
    if sum(each.searched for each in policy.patterns()) > _MOST_SEARCHED:
        raise _malformed(f"There are more than {_MOST_SEARCHED} characters between two *")
    return policy


def _read(text: str) -> Json:
    try:
        document = json.loads(text, object_pairs_hook=_once)
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise _malformed("Policies must be valid JSON, and name each element once") from None
    if not isinstance(document, dict):
        raise _malformed("A policy is an object")
    return document


def _once(pairs: list[tuple[str, object]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _statement(sent: object, label: str) -> Statement:
    if not isinstance(sent, dict):
        raise _malformed("A statement is an object")
    for name in _TURNED:
        if name in sent:
            raise not_built(f"{name} in policies")
    _check_elements(sent, _ELEMENTS)
    effect = sent.get("Effect")
    if effect not in ("Allow", "Deny"):
        raise _malformed("Effect is Allow or Deny")
    if not isinstance(sent.get("Sid", ""), str):
        raise _malformed("Sid is a text")
    return Statement(
        effect,
        _principals(sent.get("Principal")),
        frozenset().union(*(_actions(each, effect) for each in _texts("Action", sent))),
        tuple(_resource(each, label) for each in _texts("Resource", sent)),
        tuple(_conditions(sent.get("Condition", {}))),
    )


def _principals(sent: object) -> frozenset[str] | None:
    if sent == "*":
        return None
    if not isinstance(sent, dict) or not sent:
        raise _malformed('Principal is "*", or {"AWS": …}')
    for name in sent:
        if name in ("CanonicalUser", "Federated", "Service"):
            raise not_built(f"The principal {name} in policies")
    _check_elements(sent, frozenset(("AWS",)))
    found = set[str]()
    for each in _texts("AWS", sent):
        if each == "*":
            return None
        named = _PRINCIPAL.fullmatch(each)
        if named is None:
            if each.startswith("arn:aws:iam::") or re.fullmatch("[0-9]{12}", each):
                raise not_built(f"A principal other than a key (arn:aws:iam:::user/KEY): {each}")
            raise _malformed(f"Invalid principal in policy: {each}")
        found.add(named[1])
    return frozenset(found)


def _actions(sent: str, effect: Effect) -> frozenset[str]:
    pattern = _pattern(sent.lower(), "Action")
    found = frozenset(each for each in NEEDS if pattern.fits(each.lower()))
    if not found:
        raise _malformed(f"Policy has invalid action: {sent}")
    granted = found & GRANTED.keys()
    if effect == "Allow" and not granted:
        raise not_built(f"Allowing {sent} by policies")
    return granted if effect == "Allow" else found


def _resource(sent: str, label: str) -> Pattern:
    place = "*" if sent == "*" else sent.removeprefix(_ARN)
    bucket = _pattern(place.partition("/")[0], "Resource")
    if not (sent == "*" or sent.startswith(_ARN)) or not bucket.fits(label):
        raise _malformed(f"Policy has invalid resource: {sent}")
    return _pattern(place, "Resource")


def _conditions(sent: object) -> Sequence[Condition]:
    if not isinstance(sent, dict):
        raise _malformed("Condition is an object")
    found = list[Condition]()
    for operator, wanted in sent.items():
        if not isinstance(wanted, dict) or not wanted:
            raise _malformed(f"The condition {operator} is an object that names keys")
        found += [_condition(operator, key, _texts(key, wanted)) for key in wanted]
    return found


def _condition(operator: str, named: str, values: Sequence[str]) -> Condition:
    key = named.lower()
    if key not in CONDITIONS:
        raise not_built(f"The condition key {named} in policies")
    if operator == "Null":
        if len(values) != 1 or values[0] not in ("true", "false"):
            raise _malformed("Null is true or false")
        return Condition(key, negated=False, if_exists=False, absent=values[0] == "true")
    kind = operator.removesuffix("IfExists")
    negated = kind.startswith("StringNot")
    kind = kind.replace("StringNot", "String", 1)
    if kind not in ("StringEquals", "StringEqualsIgnoreCase", "StringLike"):
        raise not_built(f"The condition {operator} in policies")
    ignores_case = kind == "StringEqualsIgnoreCase"
    return Condition(
        key,
        negated,
        operator.endswith("IfExists"),
        patterns=tuple(
            _pattern(each, operator)
            if kind == "StringLike"
            else Pattern((_plain(each.lower() if ignores_case else each, operator),))
            for each in values
        ),
        ignores_case=ignores_case,
    )


def _pattern(text: str, element: str) -> Pattern:
    if "?" in _plain(text, element):
        raise not_built(f"? in {element} of policies")
    return Pattern(tuple(re.sub(r"\*+", "*", text).split("*")))


def _plain(text: str, element: str) -> str:
    if "${" in text:
        raise not_built(f"A variable in {element} of policies")
    return text


def _texts(name: str, element: Json) -> Sequence[str]:
    """One text, or a list of some."""
    found = element.get(name)
    sent = found if isinstance(found, list) else [found]
    texts = [each for each in sent if isinstance(each, str)]
    if not texts or len(texts) != len(sent):
        raise _malformed(f"{name} is a text, or a list of texts")
    return texts


def _check_elements(sent: Json, known: frozenset[str]) -> None:
    for name in sent:
        if name not in known:
            raise _malformed(f"Unknown element in policy: {name}")


def _malformed(message: str) -> S3Error:
    return invalid(message, "MalformedPolicy")
