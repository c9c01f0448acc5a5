"""Policies of buckets: which are taken, and what they say of requests."""

import json
import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.engines.gateway.faults import S3Error
from roost.engines.gateway.policies import MOST_BYTES, Asked, Effect, Pattern, policy_of

LABEL, KEY, OTHER = "photos", "ABCDEFGHIJKLMNOPQRST", "ZZZZZZZZZZZZZZZZZZZZ"
ARN = f"arn:aws:s3:::{LABEL}"
Json = Mapping[str, object]


def statement(**changes: object) -> dict[str, object]:
    """Everybody may get objects; None leaves an element out."""
    whole = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": f"{ARN}/*"}
    return {name: each for name, each in {**whole, **changes}.items() if each is not None}


def text(*statements: Json) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def decided(
    policy: str,
    action: str = "s3:GetObject",
    name: str | None = "a",
    key: str | None = None,
    facts: Mapping[str, str] | None = None,
) -> Effect | None:
    resource = LABEL if name is None else f"{LABEL}/{name}"
    return policy_of(policy, LABEL).decides(Asked(action, resource, key, (facts or {}).get))


@given(st.text("ab*", max_size=12), st.text("ab", max_size=12))
def test_a_star_stands_for_any_characters(pattern: str, name: str) -> None:
    wanted = re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name) is not None
    assert Pattern(tuple(pattern.split("*"))).fits(name) is wanted


@pytest.mark.parametrize(
    ("resource", "name", "fits"),
    [
        (f"{ARN}/*", "a", True),
        (f"{ARN}/*", None, False),
        (ARN, None, True),
        (ARN, "a", False),
        (f"{ARN}/public/*", "public/a", True),
        (f"{ARN}/public/*", "public", False),
        (f"{ARN}/public/*", "publicly/a", False),
        (f"{ARN}/*.jpg", "a/b.jpg", True),
        (f"{ARN}/A", "a", False),
        (f"{ARN}/a\\*", "a\\b", True),
        ("arn:aws:s3:::*/*", "a", True),
        ("arn:aws:s3:::pho*", None, True),
        ("*", "a", True),
    ],
)
def test_resources(resource: str, name: str | None, fits: bool) -> None:
    policy = text(statement(Action="s3:*", Resource=resource))
    action = "s3:ListBucket" if name is None else "s3:GetObject"
    assert decided(policy, action, name) == ("Allow" if fits else None)


@pytest.mark.parametrize(
    ("principal", "known", "stranger", "nobody"),
    [
        ("*", "Allow", "Allow", "Allow"),
        ({"AWS": "*"}, "Allow", "Allow", "Allow"),
        ({"AWS": KEY}, "Allow", None, None),
        ({"AWS": [f"arn:aws:iam:::user/{KEY}"]}, "Allow", None, None),
        ({"AWS": [KEY, "*"]}, "Allow", "Allow", "Allow"),
    ],
)
def test_principals(
    principal: object, known: Effect | None, stranger: Effect | None, nobody: Effect | None
) -> None:
    policy = text(statement(Principal=principal))
    found = [decided(policy, key=each) for each in (KEY, OTHER, None)]
    assert found == [known, stranger, nobody]
    assert policy_of(policy, LABEL).is_public is (nobody == "Allow")


def test_actions() -> None:
    """In any case, by patterns, and no more of them than a policy can allow."""
    policy = text(statement(Action=["S3:getobject", "s3:List*"], Resource=[ARN, f"{ARN}/*"]))
    assert decided(policy) == decided(policy, "s3:ListBucket", None) == "Allow"
    assert decided(policy, "s3:PutObject") is None
    every = text(statement(Action="*", Resource="*"))
    assert decided(every, "s3:DeleteObject") == "Allow"
    for action in ("s3:PutBucketPolicy", "s3:GetBucketPolicy", "s3:PutBucketAcl"):
        assert decided(every, action, None) is None
    denied = text(statement(Action="s3:*", Resource="*", Effect="Deny"))
    assert decided(denied, "s3:GetBucketAcl", None) == "Deny"


def test_a_denial_comes_before_all() -> None:
    deny = statement(Effect="Deny", Resource=f"{ARN}/secret/*")
    for policy in (text(statement(), deny), text(deny, statement())):
        assert decided(policy, name="secret/a") == "Deny"
        assert decided(policy, name="a") == "Allow"
    assert decided(text(deny), name="a") is None


@pytest.mark.parametrize(
    ("condition", "none", "of_a", "of_b"),
    [
        ({"StringEquals": {"s3:prefix": "a/"}}, False, True, False),
        ({"StringEquals": {"s3:prefix": ["a/", "b/"]}}, False, True, True),
        ({"StringNotEquals": {"s3:prefix": "a/"}}, True, False, True),
        ({"StringNotEquals": {"s3:prefix": ["a/", "b/"]}}, True, False, False),
        ({"StringLike": {"S3:Prefix": "a*"}}, False, True, False),
        ({"StringNotLike": {"s3:prefix": "a*"}}, True, False, True),
        ({"StringEqualsIgnoreCase": {"s3:prefix": "A/"}}, False, True, False),
        ({"StringNotEqualsIgnoreCase": {"s3:prefix": "A/"}}, True, False, True),
        ({"StringLikeIfExists": {"s3:prefix": "a*"}}, True, True, False),
        ({"Null": {"s3:prefix": "true"}}, True, False, False),
        ({"Null": {"s3:prefix": "false"}}, False, True, True),
        ({"StringEquals": {"s3:prefix": "a*"}}, False, False, False),
        (
            {"StringLike": {"s3:prefix": "*"}, "StringEquals": {"s3:delimiter": "/"}},
            False,
            False,
            False,
        ),
    ],
)
def test_conditions(condition: Json, none: bool, of_a: bool, of_b: bool) -> None:
    """What a request has nothing of fits no value."""
    policy = text(statement(Action="s3:ListBucket", Resource=ARN, Condition=condition))
    facts: list[dict[str, str]] = [{}, {"s3:prefix": "a/"}, {"s3:prefix": "b/"}]
    found = [decided(policy, "s3:ListBucket", None, facts=each) for each in facts]
    assert found == ["Allow" if each else None for each in (none, of_a, of_b)]


def test_a_parameter_of_another_request_counts_for_nothing() -> None:
    """`GET /bucket/secret?prefix=public` is no list of `public`."""
    condition = {"StringEquals": {"s3:prefix": "public"}}
    policy = text(statement(Action="s3:*", Resource=[ARN, f"{ARN}/*"], Condition=condition))
    facts = {"s3:prefix": "public"}
    assert decided(policy, "s3:ListBucket", None, facts=facts) == "Allow"
    assert decided(policy, "s3:GetObject", "secret", facts=facts) is None


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "{",
        "[]",
        "[" * 20_000,
        "{}",
        '{"Statement": []}',
        '{"Statement": ["a"]}',
        '{"Version": "2026-01-01", "Statement": [{}]}',
        '{"Statement": {"Effect": "Deny", "Effect": "Allow"}}',
        '{"Statement": {}, "Other": 1}',
        text(*[statement()] * 51),
        text(statement(Effect="allow")),
        text(statement(Effect=None)),
        text(statement(Principal=None)),
        text(statement(Principal="photos")),
        text(statement(Principal={})),
        text(statement(Principal={"AWS": []})),
        text(statement(Principal={"AWS": "ABC*"})),
        text(statement(Principal={"GCP": "*"})),
        text(statement(Action=None)),
        text(statement(Action=[])),
        text(statement(Action=[1])),
        text(statement(Action="s3:GetObjekt")),
        text(statement(Action="ec2:*")),
        text(statement(Resource=None)),
        text(statement(Resource="photos/*")),
        text(statement(Resource="arn:aws:s3:::others/*")),
        text(statement(Resource=[f"{ARN}/*", "arn:aws:s3:::others/*"])),
        text(statement(Resource=f"{ARN}/*{'a' * 2049}*")),
        text(
            statement(Resource=f"{ARN}/*{'a' * 700}*"),
            *[statement(Resource=f"{ARN}/*{'b' * 700}*")] * 2,
        ),
        text(statement(Sid=1)),
        '{"\\ud800": 1}',
        text(statement(Resource="\ud800")),
        text(statement(Other=1)),
        text(statement(Condition=[])),
        text(statement(Condition={"StringLike": "a"})),
        text(statement(Condition={"StringLike": {}})),
        text(statement(Condition={"StringLike": {"s3:prefix": []}})),
        text(statement(Condition={"StringLike": {"s3:prefix": 1}})),
        text(statement(Condition={"Null": {"s3:prefix": "yes"}})),
    ],
)
def test_what_is_no_policy(sent: str) -> None:
    with pytest.raises(S3Error) as raised:
        policy_of(sent, LABEL)
    assert (raised.value.status, raised.value.code) == (400, "MalformedPolicy")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"NotPrincipal": "*"}, "NotPrincipal"),
        ({"NotAction": "s3:GetObject"}, "NotAction"),
        ({"NotResource": ARN}, "NotResource"),
        ({"Principal": {"AWS": "arn:aws:iam::123456789012:root"}}, "123456789012"),
        ({"Principal": {"AWS": "123456789012"}}, "123456789012"),
        ({"Principal": {"CanonicalUser": "a"}}, "CanonicalUser"),
        ({"Principal": {"Service": "a"}}, "Service"),
        ({"Action": "s3:PutBucketPolicy"}, "s3:PutBucketPolicy"),
        ({"Action": "s3:DeleteBucket"}, "s3:DeleteBucket"),
        ({"Resource": f"{ARN}/a?"}, "Resource"),
        ({"Resource": f"{ARN}/${{aws:username}}/*"}, "variable in Resource"),
        ({"Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}, "aws:SourceIp"),
        ({"Condition": {"Bool": {"aws:SecureTransport": "false"}}}, "aws:SecureTransport"),
        ({"Condition": {"ForAnyValue:StringLike": {"s3:prefix": "a"}}}, "ForAnyValue"),
    ],
)
def test_what_policies_of_s3_have_and_these_have_not(changes: Json, named: str) -> None:
    """The refusal names it."""
    with pytest.raises(S3Error) as raised:
        policy_of(text(statement(**changes)), LABEL)
    assert (raised.value.status, raised.value.code) == (501, "NotImplemented")
    assert named in raised.value.message


def test_the_largest_policy() -> None:
    patterns = [f"{ARN}/{'a' * 200}*{number}" for number in range(89)]
    policy = text(statement(Resource=patterns))
    assert MOST_BYTES - 1000 < len(policy) <= MOST_BYTES
    assert decided(policy, name="a" * 1000 + "88") == "Allow"
    assert decided(policy, name="a" * 1000) is None
