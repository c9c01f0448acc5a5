"""`--wait`: until what a write has begun has ended, by the account's events."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import click

from roost.app.table import line
from roost.commands.operations import Command
from roost.commands.written import Value
from roost.ctl.client import Request, send
from roost.ctl.errors import FAILED_LATER, CommandError
from roost.ctl.profiles import Profile
from roost.ctl.renewal import Login
from roost.ctl.show import Row, as_record, rows_of

PATH = "/v4/account/events"
LONGEST_SECONDS = 6 * 3600
_ASK_SECONDS = 30
_RUNNING = ("scheduled", "started")
_PAGE = 100


@dataclass(slots=True)
class Work:
    """What begins with the next write."""

    login: Login
    command: Command
    after: int
    """The newest event before."""
    etag: str | None = field(default=None)

    @classmethod
    def before(cls, login: Login, command: Command) -> "Work":
        rows = rows_of(send(login(), Request("GET", f"{PATH}?page_size=25", again=True)).json())
        return cls(login, command, max((_number(row["id"]) for row in rows), default=0))

    def wait(self, about: Sequence[str]) -> None:
        """Until all events of the write have ended that are about one of these ids.

        CommandError when one of them has failed.
        """
        deadline = time.monotonic() + LONGEST_SECONDS
        label, hidden = self.command.name, not sys.stderr.isatty()
        with click.progressbar(length=100, label=label, file=sys.stderr, hidden=hidden) as bar:
            while True:
                events = self._look(about)
                done = sum(map(_percent, events)) // len(events) if events else 100
                bar.update(done - bar.pos)
                if not any(event["status"] in _RUNNING for event in events):
                    break
                if time.monotonic() > deadline:
                    raise CommandError("it takes longer than six hours", FAILED_LATER)
        failed = [event for event in events if event["status"] == "failed"]
        if failed:
            raise CommandError("\n".join(map(_reason, failed)), FAILED_LATER)

    def _look(self, about: Sequence[str]) -> list[Row]:
        """At once for the first time, then when something has changed."""
        wanted = {"id": {"+gt": self.after}, "+order_by": "id", "+order": "asc"}
        headers = {"X-Filter": json.dumps(wanted)}
        query = f"page_size={_PAGE}"
        if self.etag is not None:
            headers["If-None-Match"] = self.etag
            query += f"&wait={_ASK_SECONDS}"
        answer = send(self.login(), Request("GET", f"{PATH}?{query}", headers, again=True))
        if answer.status == 304:
            self.etag = None
            return self._look(about)
        self.etag = answer.headers.get("etag")
        return [row for row in rows_of(answer.json()) if self._is_own(row, about)]

    def _is_own(self, event: Row, about: Sequence[str]) -> bool:
        entity = event.get("entity")
        is_about = isinstance(entity, Mapping) and number_of(entity.get("id")) in about
        return event.get("action") in self.command.events and (is_about or not about)


def number_of(thing: Value) -> str:
    """The number of an id, which has a slash before it where it is an image's."""
    return str(thing).rpartition("/")[2]


def view(profile: Profile, path: str) -> Row:
    return as_record(send(profile, Request("GET", path, again=True)).json())


def _percent(event: Row) -> int:
    value = event.get("percent_complete")
    return _number(value) if event["status"] in _RUNNING else 100


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0


def _reason(event: Row) -> str:
    return line(f"{event['action']} failed: {event.get('message') or 'no reason is told'}")
