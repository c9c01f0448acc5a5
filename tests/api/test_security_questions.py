"""Security questions over HTTP (reference: Profile)."""

import pytest

from roost.app.roost import Roost
from roost.resources.security_questions.rules import QUESTIONS
from tests.api.conftest import Account
from tests.support.client import Client, Json

PATH = "/profile/security-questions"


def answers(*pairs: tuple[object, object]) -> Json:
    return {"security_questions": [{"question_id": q, "response": r} for q, r in pairs]}


async def test_answers_replace_those_before(
    client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    rows = (await client.get(PATH))["security_questions"]
    assert [(row["id"], row["question"]) for row in rows] == list(QUESTIONS.items())
    assert {row["response"] for row in rows} == {None}
    await client.post(PATH, answers((1, "Gotham"), (2, "Rex"), (5, "none of them")))
    told = await client.post(PATH, answers((7, "Ada"), (2, "Rex the cat"), (3, "a" * 17)))
    assert told["security_questions"][0] == {
        "question_id": 7,
        "response": "Ada",
        "security_question": QUESTIONS[7],
    }
    rows = (await client.get(PATH))["security_questions"]
    given = {row["id"]: row["response"] for row in rows if row["response"] is not None}
    assert given == {7: "Ada", 2: "Rex the cat", 3: "a" * 17}
    others = (await stranger.get(PATH))["security_questions"]
    assert {row["response"] for row in others} == {None}
    kept = await roost.store.fetch(
        "select response from security_answer where user_id = $1", account.user_id
    )
    assert len(kept) == 3
    assert not any(b"Rex" in row["response"] for row in kept)
    events = (await client.get("/account/events"))["data"]
    assert [event["action"] for event in events] == ["profile_update"] * 2
    assert "Rex" not in str(events)


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, [("security_questions", "security_questions is required")]),
        (answers((1, "abc"), (2, "abc")), [("security_questions", "Length must be 3-3 items")]),
        (
            answers((1, "abc"), (1, "abd"), (2, "abc")),
            [("security_questions", "Each question can be answered once")],
        ),
        (
            answers((0, "abc"), (1, "ab"), (2, "a" * 18)),
            [
                ("security_questions[0].question_id", "question_id is not valid"),
                ("security_questions[1].response", "Length must be 3-17 characters"),
                ("security_questions[2].response", "Length must be 3-17 characters"),
            ],
        ),
    ],
)
async def test_refusals(client: Client, body: Json, problems: list[tuple[str, str]]) -> None:
    answer = await client.send("POST", PATH, body)
    assert (answer.status, answer.problems) == (400, problems)
    rows = (await client.get(PATH))["security_questions"]
    assert {row["response"] for row in rows} == {None}
