"""The nightly job that forgets what nobody can log in or get tokens with any more."""

from datetime import timedelta

from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, again, next_step
from roost.oauth import queries, session_queries
from roost.oauth.issue import REFRESH_LIFE
from roost.oauth.throttle import WINDOW

KEPT = timedelta(days=30)
"""Ended consents and tokens, so that one can still see what happened."""

_BATCH = 1000


async def _delete(run: Run[JobArgs]) -> Verdict:
    now, store = run.clock.now(), run.store
    deleted = [
        await session_queries.delete_old_sessions(store, now, _BATCH),
        await session_queries.delete_old_attempts(store, now - WINDOW, _BATCH),
        await queries.delete_old_families(store, now - KEPT, _BATCH),
        await queries.delete_old_access_tokens(store, now - KEPT, _BATCH),
        await queries.delete_old_refresh_tokens(store, now - REFRESH_LIFE, _BATCH),
    ]
    return again(0) if _BATCH in deleted else next_step()


RETENTION = JobKind("oauth_retention", JobArgs, steps=(Step("delete", _delete),))

NIGHTLY = Schedule("oauth_retention", "57 3 * * *", RETENTION, JobArgs())
