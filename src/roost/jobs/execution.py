"""One claimed job: run its steps, or its undos, until it ends, waits or is no longer ours."""

import asyncio
import time
from contextlib import AbstractContextManager
from dataclasses import replace

import structlog

from roost.errors import ShownError, shown
from roost.jobs import lease_queries, queries, transitions
from roost.jobs.environment import Environment
from roost.jobs.faults import Boundary, Point
from roost.jobs.kinds import AnyKind, AnyStep
from roost.jobs.model import Job
from roost.jobs.run import Tools
from roost.jobs.verdicts import Again, Done, Fail, Fatal, Next, Verdict, Write, next_step
from roost.shares import on_behalf_of
from roost.store import Queries
from roost.tracing import Attributes, Span
from roost.waiting import NotYetError, may_leave

_PROGRESS_SECONDS = 0.5

_log = structlog.get_logger(__name__)


class _InterruptedError(Exception):
    """The step was cancelled so that the row can be looked at."""


class _OvertimeError(ShownError):
    """The step took longer than it may."""


class _StaleError(Exception):
    """The row is not as it was read: stopped by somebody, or another worker's."""


class Execution:
    """Drives one job. Every write is one transaction, fenced by the row as it was last read."""

    def __init__(self, job: Job, environment: Environment) -> None:
        self.job = job
        self._env = environment
        self._kind: AnyKind = environment.queue.kinds[job.kind]
        self._step: asyncio.Task[Verdict] | None = None
        self._interrupted = False
        self._releasing = False
        self._reported = -_PROGRESS_SECONDS

    async def run(self) -> None:
        """Until the job is not `running` here any more. Raises what the database raises."""
        job = self.job
        context = {"job": job.id, "job_kind": job.kind, "resource": job.resource}
        with (
            self._env.tracer.span("job", f"job {job.kind}", _told(job), job.trace) as span,
            structlog.contextvars.bound_contextvars(**context),
            on_behalf_of(job.account_id),
        ):
            if job.fence == 1 and job.account_id is not None:
                _log.info("job_started")
            while self.job.status == "running":
                await self._turn()
            self._log_end()
            span.tell({"roost.job.status": self.job.status})
            if self.job.status == "failed":
                span.fail("failed")

    def _log_end(self) -> None:
        """Not of Roost's own jobs of each minute, unless they fail."""
        job = self.job
        if job.finished is not None and (job.account_id is not None or job.status != "done"):
            seconds = (job.finished - job.created).total_seconds()
            _log.info("job_ended", status=job.status, seconds=round(seconds, 3), error=job.error)

    def interrupt(self) -> None:
        """Stop the step that runs and look at the row again."""
        self._interrupted = True
        if self._step is not None:
            self._step.cancel()

    def release(self) -> None:
        """Hand the job to another worker at the next boundary of a step."""
        self._releasing = True

    async def _turn(self) -> None:
        job = self.job
        if self._interrupted:
            self._interrupted = False
            await self._refresh()
        elif job.stop == "preempt":
            await self._commit(transitions.preempt(job, self._env.queue.clock.now()))
        elif job.stop == "cancel" and job.phase == "forward":
            await self._commit(transitions.undo(job, job.stop_reason or "cancelled"))
        elif self._releasing:
            await lease_queries.release(self._env.store, job)
            self.job = replace(job, status="waiting")
        else:
            await self._attempt()

    async def _refresh(self) -> None:
        row = await queries.find(self._env.store, self.job.id)
        if row is None or row.fence != self.job.fence:
            _log.warning("job_lost")
            self.job = replace(self.job, status="waiting")
        else:
            self.job = row

    async def _attempt(self) -> None:
        try:
            step = self._current()
            if step is None:
                await self._conclude(next_step())
                return
            host = self._kind.host_of(step, self.job)
            if host != self._env.settings.host:
                await self._commit(transitions.hand_over(self.job, host))
                return
            if self.job.attempt >= self._kind.retry_of(step.name).attempts:
                raise Fatal(f"the worker was lost during {step.name}, again and again")
            undo = self.job.phase == "undo"
            self._reach(step, Point.BEFORE_STEP, undo)
            verdict = await self._call(step)
            self._reach(step, Point.BEFORE_COMMIT, undo)
            if await self._conclude(verdict):
                self._reach(step, Point.AFTER_COMMIT, undo)
        except _InterruptedError:
            return
        except Exception as error:
            await self._handle(error)

    def _current(self) -> AnyStep | None:
        """The step to run or to undo; None when nothing is left to undo."""
        if self.job.phase == "undo":
            return self._kind.undoing(self.job.step)
        step = self._kind.find(self.job.step)
        if step is None:
            raise Fatal(f"{self._kind.name} has no step {self.job.step} in this release")
        return step

    async def _call(self, step: AnyStep) -> Verdict:
        """Run the action within its time, so that it can be interrupted. Raises its errors."""
        self._step = asyncio.create_task(self._timed(step))
        try:
            return await self._step
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            if self._interrupted:
                raise _InterruptedError from None
            raise RuntimeError(f"{step.name} cancelled itself") from None
        finally:
            self._step = None

    async def _timed(self, step: AnyStep) -> Verdict:
        env = self._env
        tools = Tools(env.store, env.queue.clock, env.services, self._report)
        run = self._kind.prepare(self.job, tools)
        action = step.undo if self.job.phase == "undo" and step.undo else step.action
        try:
            async with asyncio.timeout(step.timeout) as timer:
                with may_leave(), self._span(step) as span:
                    verdict = await action(run)
                    span.tell({"roost.verdict": type(verdict).__name__.lower()})
                    return verdict
        except NotYetError as error:
            return Again(error.seconds, None, attempted=False)
        except TimeoutError:
            if not timer.expired():
                raise
            raise _OvertimeError(f"{step.name} took longer than {step.timeout:g} s") from None

    def _span(self, step: AnyStep) -> AbstractContextManager[Span]:
        """One attempt of a step or of its undo."""
        what = "undo" if self.job.phase == "undo" else "step"
        return self._env.tracer.span(
            "step", f"{what} {step.name}", {"roost.attempt": self.job.attempt + 1}
        )

    def _reach(self, step: AnyStep, point: Point, undo: bool) -> None:
        self._env.faults.reach(Boundary(self.job.kind, step.name, point, undo))

    async def _conclude(self, verdict: Verdict) -> bool:
        """Commit what the step or undo has decided. Fatal when an undo gives up."""
        job, kind, now = self.job, self._kind, self._env.queue.clock.now()
        undoing = job.phase == "undo"
        match verdict:
            case Next(write, result):
                forward = transitions.advance(job, kind, result, now)
                new = transitions.undone(job, kind, now) if undoing else forward
            case Done(write):
                new = transitions.end(job, now) if undoing else transitions.succeed(job, now)
            case Again(write=write):
                new = transitions.wait(job, verdict, now)
            case Fail(reason):
                if undoing:
                    raise Fatal(reason)
                new, write = transitions.undo(job, reason), None
        return await self._commit(new, write)

    async def _handle(self, error: Exception) -> None:
        """Another attempt later, or the end of this direction."""
        job, now = self.job, self._env.queue.clock.now()
        step = self._kind.undoing(job.step) if job.phase == "undo" else None
        retry = self._kind.retry_of(step.name if step else job.step)
        reason = str(error) if step else shown(error)
        final = self._is_permanent(error) or job.attempt + 1 >= retry.attempts
        trace = error if final else None
        _log.warning("job_step_failed", step=job.step, error=repr(error), exc_info=trace)
        if not final:
            self._env.metrics.retries.labels(job.kind).inc()
            await self._commit(transitions.retry(job, reason, retry.delay(job.attempt + 1), now))
        elif job.phase == "forward":
            await self._commit(transitions.undo(job, reason))
        else:
            await self._give_up(transitions.end(job, now, reason))

    def _is_permanent(self, error: Exception) -> bool:
        """An undo is tried again whatever the fault: nothing may be left behind."""
        if isinstance(error, (Fatal, *self._kind.permanent)):
            return True
        return isinstance(error, ShownError) and error.lasting and self.job.phase == "forward"

    async def _give_up(self, end: Job) -> None:
        """Something could not be taken back: a person has to look at it."""
        _log.error("job_undo_failed", step=end.step, error=end.error, undo_error=end.undo_error)
        self._env.metrics.undo_failures.labels(end.kind).inc()
        try:
            await self._commit(end)
        except Exception:
            _log.exception("job_on_failed_failed")
            await self._commit(end, effects=False)

    async def _commit(self, new: Job, write: Write | None = None, *, effects: bool = True) -> bool:
        """Write rows of the resource, the job and the listener, in this order, or none of them."""

        async def work(conn: Queries) -> None:
            if write is not None:
                await write(conn)
            if effects:
                await self._apply_effect(conn, new)
            lease = self._env.settings.written_lease
            ending = self._env.queue.listener.ending if new.status == "done" else ""
            if not await lease_queries.save(conn, self.job, new, lease, ending):
                raise _StaleError
            await self._notify(conn, new)

        store, alone = self._env.store, write is None and self._is_alone(new)
        try:
            await (work(store) if alone else store.commit(work))
        except _StaleError:
            await self._refresh()
            return False
        self.job = replace(new, revision=new.revision + 1)
        self._count()
        return True

    def _is_alone(self, new: Job) -> bool:
        """Whether only the job's row changes: a statement alone is a transaction of its own."""
        failed = new.status in ("failed", "cancelled")
        if new.event_id is not None and (failed or new.error != self.job.error):
            return False
        effect = self._kind.on_done if new.status == "done" else self._kind.on_failed
        return new.finished is None or effect is None

    async def _apply_effect(self, conn: Queries, new: Job) -> None:
        if new.status == "done":
            await self._kind.effect(self._kind.on_done, conn, new)
        elif new.status in ("failed", "cancelled") and new.stop != "preempt":
            await self._kind.effect(self._kind.on_failed, conn, new)

    async def _notify(self, conn: Queries, new: Job) -> None:
        listener = self._env.queue.listener
        if new.status in ("failed", "cancelled"):
            await listener.failed(conn, new)
            return
        if new.error != self.job.error:
            await listener.retried(conn, new)

    def _count(self) -> None:
        metrics = self._env.metrics
        by_status = {
            "done": metrics.finished,
            "failed": metrics.failures,
            "cancelled": metrics.cancellations,
        }
        if counter := by_status.get(self.job.status):
            counter.labels(self.job.kind).inc()

    async def _report(self, percent: int) -> None:
        """Write how far the job is, at most twice a second."""
        if percent == self.job.percent or time.monotonic() - self._reported < _PROGRESS_SECONDS:
            return
        self._reported = time.monotonic()
        new = replace(self.job, percent=percent)
        async with self._env.store.transaction() as conn:
            if await lease_queries.save_percent(conn, new, percent):
                await self._env.queue.listener.progressed(conn, new)
                self.job = new
                return
        self.interrupt()


def _told(job: Job) -> Attributes:
    return {
        "roost.job.id": job.id,
        "roost.job.kind": job.kind,
        "roost.job.resource": job.resource,
        "roost.account.id": job.account_id,
    }
