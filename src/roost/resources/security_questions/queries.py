"""SQL of answers to security questions."""

from collections.abc import Mapping

from roost.store import Queries
from roost.store.query import query


@query("select question_id, response from security_answer where user_id = $1")
async def read(db: Queries, user_id: int) -> dict[int, bytes]:
    """Sealed, by the number of the question."""


async def replace(db: Queries, user_id: int, answers: Mapping[int, bytes]) -> None:
    """These are all; `answers` are sealed. The user's row is locked."""
    await db.execute("select from api_user where id = $1 for no key update", user_id)
    await db.execute("delete from security_answer where user_id = $1", user_id)
    await db.execute(
        """
        insert into security_answer (user_id, question_id, response)
        select $1, question_id, response from unnest($2::integer[], $3::bytea[])
            as given (question_id, response)
        """,
        user_id,
        list(answers),
        list(answers.values()),
    )
