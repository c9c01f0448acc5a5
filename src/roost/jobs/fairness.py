"""Which due jobs a worker begins: shares for accounts and for short jobs.

Slots are few and jobs may be long, so that fairness is a matter of what is kept free:

- The account that holds the fewest slots goes first; within an account, what has begun before
  what has not, then first come, first served. Schedules are an account of their own.
- A quarter of the slots is for short jobs. Of the slots that its jobs may use, an account that
  holds some leaves a quarter to accounts that hold none: a newcomer starts at once.
- A kind may limit how many of its jobs one account runs at the same time.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from roost.jobs.kinds import Kinds

_KEPT = 4
"""One slot in so many is kept for others."""


@dataclass(frozen=True, slots=True)
class Line:
    """The jobs of an account (0: of schedules) and a kind that wait for a slot."""

    tenant: int
    kind: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A due job, at the head of its resource's queue."""

    id: int
    line: Line
    begun: bool
    run_at: datetime

    @property
    def order(self) -> tuple[bool, datetime, int]:
        return not self.begun, self.run_at, self.id


class Slots:
    """The slots of one worker, and who holds them."""

    def __init__(self, size: int, kinds: Kinds, held: Iterable[Line]) -> None:
        self._size = size
        self._kinds = kinds
        self._tenants: Counter[int] = Counter()
        self._lanes: Counter[tuple[int, bool]] = Counter()
        for line in held:
            self._take(line)

    def choose(self, candidates: Iterable[Candidate], running: Mapping[Line, int]) -> list[int]:
        """Fill the free slots: the ids of jobs in the order in which they are to begin.

        `running` counts jobs of limited kinds on all workers.
        """
        queues: dict[int, deque[Candidate]] = {}
        for candidate in sorted(candidates, key=lambda each: each.order):
            queues.setdefault(candidate.line.tenant, deque()).append(candidate)
        counts, chosen = Counter(running), list[int]()
        while queues:
            for tenant in list(queues):
                # What may not begin now may not after others have begun either.
                while queues[tenant] and not self._may_begin(queues[tenant][0].line, counts):
                    queues[tenant].popleft()
                if not queues[tenant]:
                    del queues[tenant]
            if queues:
                first = min(queues, key=lambda each: (self._tenants[each], queues[each][0].order))
                candidate = queues[first].popleft()
                chosen.append(candidate.id)
                counts[candidate.line] += 1
                self._take(candidate.line)
        return chosen

    def _may_begin(self, line: Line, running: Mapping[Line, int]) -> bool:
        kind = self._kinds[line.kind]
        if kind.per_account is not None and running.get(line, 0) >= kind.per_account:
            return False
        size, free = self._size, self._size - self._tenants.total()
        if kind.long:
            size -= size // _KEPT
            long_jobs = sum(n for (_, is_long), n in self._lanes.items() if is_long)
            free = min(free, size - long_jobs)
        kept = size // _KEPT if self._lanes[line.tenant, kind.long] else 0
        return free > kept

    def _take(self, line: Line) -> None:
        self._tenants[line.tenant] += 1
        self._lanes[line.tenant, self._kinds[line.kind].long] += 1
