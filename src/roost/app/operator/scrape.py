"""What the server of a state counts and has seen: its `/metrics`, as an operator beside it asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from roost.app.served import near
from roost.errors import OperatorError

_TIMEOUT = aiohttp.ClientTimeout(total=5)

_OK = 200
_REFUSED, _FAILED = "4", "5"


class ScrapeError(OperatorError):
    """The server does not answer, or does not let this machine see what it counts."""


@dataclass(frozen=True, slots=True)
class Sample:
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Scrape:
    at: float
    """By `time.monotonic`."""
    samples: Mapping[str, list[Sample]]
    """By name."""

    @classmethod
    def of(cls, text: str, at: float) -> "Scrape":
        samples = dict[str, list[Sample]]()
        for family in text_string_to_metric_families(text):
            for each in family.samples:
                samples.setdefault(each.name, []).append(Sample(each.labels, each.value))
        return cls(at, samples)

    def all(self, name: str) -> list[Sample]:
        return self.samples.get(name, [])

    def total(self, name: str) -> float:
        return sum(sample.value for sample in self.all(name))

    def answered(self, first: str) -> float:
        """Requests whose status begins so."""
        samples = self.all("roost_http_requests_total")
        return sum(each.value for each in samples if each.labels["status"].startswith(first))


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of the API in a second, since the look before."""

    answered: float
    refused: float
    """With a status of 400 to 499."""
    failed: float
    """With one of 500 or more."""
    milliseconds: float | None
    """That one took on average; None when there was none."""


async def scrape(url: str) -> Scrape:
    """Raises ScrapeError."""
    try:
        # Of this machine, which is told nothing; the names of its certificate may be others.
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT) as session,
            session.get(near(url, "/metrics"), ssl=False) as response,
        ):
            status, text = response.status, await response.text()
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ScrapeError(f"the server does not answer: {type(error).__name__}") from error
    if status != _OK:
        raise ScrapeError(f"the server answers {status}: see ROOST_MONITORS")
    return Scrape.of(text, monotonic())


def requests_between(before: Scrape, now: Scrape) -> Requests | None:
    """None when the server began anew meanwhile."""
    seconds = now.at - before.at
    answered = now.answered("") - before.answered("")
    if answered < 0 or seconds <= 0:
        return None
    timed = "roost_http_request_seconds_"
    count = now.total(f"{timed}count") - before.total(f"{timed}count")
    spent = now.total(f"{timed}sum") - before.total(f"{timed}sum")
    return Requests(
        round(answered / seconds, 2),
        round((now.answered(_REFUSED) - before.answered(_REFUSED)) / seconds, 2),
        round((now.answered(_FAILED) - before.answered(_FAILED)) / seconds, 2),
        round(1000 * spent / count, 2) if count else None,
    )
