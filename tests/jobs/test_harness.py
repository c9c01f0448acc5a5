"""The harness over the toy group, and that it finds what is wrong."""

from dataclasses import replace

import pytest

from roost.jobs import (
    AnyKind,
    Boundary,
    Crash,
    Environment,
    Fatal,
    Faults,
    JobKind,
    Point,
    Run,
    Verdict,
    next_step,
)
from roost.store import Store
from tests.jobs.bench import Bench
from tests.jobs.harness import REASON, Scenario, Trial, pairs, trials, without_scenario
from tests.jobs.lamps import LIGHT, TABLE, LampArgs, LampCase, LampEngine, begin

SCENARIO = Scenario(LIGHT, begin)


def environment(store: Store, kind: AnyKind = LIGHT) -> Environment:
    return Bench(store, kind, services=[LampEngine()]).environment


@pytest.mark.parametrize(("scenario", "trial"), pairs([SCENARIO]), ids=str)
async def test_lamps(store: Store, scenario: Scenario, trial: Trial) -> None:
    await store.execute(TABLE)
    await trial.run(environment(store), scenario)


AT_REST = [
    Boundary(LIGHT.name, LIGHT.steps[0].name, Point.BEFORE_STEP),
    *(Boundary(LIGHT.name, step.name, Point.AFTER_COMMIT) for step in LIGHT.steps),
    *(
        Boundary(LIGHT.name, step.name, Point.AFTER_COMMIT, True)
        for step in LIGHT.steps
        if step.undo
    ),
]
"""Where nothing is half-made: what `trials` leaves out for all other kinds."""


@pytest.mark.parametrize("boundary", AT_REST, ids=str)
async def test_a_crash_between_steps_loses_nothing(store: Store, boundary: Boundary) -> None:
    await store.execute(TABLE)
    last = Boundary(LIGHT.name, LIGHT.steps[-1].name, Point.BEFORE_COMMIT)
    failing = {last: Fatal} if boundary.undo else {}
    trial = Trial("at rest", {**failing, boundary: Crash}, REASON if boundary.undo else None)
    await trial.run(environment(store), SCENARIO)


async def _broken(store: Store, kind: JobKind[LampArgs], title: str) -> None:
    """The trial must find the fault that was built into the kind."""
    await store.execute(TABLE)

    async def begin_broken(environment: Environment) -> LampCase:
        async with store.transaction() as conn:
            args = LampArgs(lamp_id=1)
            job = await environment.queue.enqueue(conn, kind, args, resource="lamp:1")
        return LampCase(store, environment.services.get(LampEngine), 1, job.id)

    scenario = Scenario(kind, begin_broken)
    trial = next(trial for trial in trials(scenario) if trial.title == title)
    with pytest.raises(AssertionError):
        await trial.run(environment(store, kind), scenario)


async def test_a_missing_undo_is_found(store: Store) -> None:
    make, *others = LIGHT.steps
    kind = replace(LIGHT, steps=(replace(make, undo=None), *others))
    await _broken(store, kind, "fail before_step measure")


async def test_a_half_done_step_that_is_not_undone_is_found(store: Store) -> None:
    make, light, measure = LIGHT.steps
    kind = replace(LIGHT, steps=(make, replace(light, undo=None), measure))
    await _broken(store, kind, "fail before_commit light")


async def test_a_resource_left_in_transition_is_found(store: Store) -> None:
    await _broken(store, replace(LIGHT, on_failed=None), "fail before_step make")


async def test_a_step_that_writes_outside_its_commit_is_found(store: Store) -> None:
    async def make_twice(run: Run[LampArgs]) -> Verdict:
        await run.get(LampEngine).make(run.args.lamp_id)
        await run.store.execute("insert into use values (1, 'made')")
        return next_step(result={"brightness": 7})

    make, *others = LIGHT.steps
    kind = replace(LIGHT, steps=(replace(make, action=make_twice), *others))
    await _broken(store, kind, "repeat steps")


def test_kinds_without_a_scenario_are_listed() -> None:
    assert without_scenario(["b", "lamp_light", "a"], [SCENARIO]) == ["a", "b"]


def test_steps_that_no_scenario_comes_to_are_listed() -> None:
    short = replace(SCENARIO, passes=("make", "light"))
    assert without_scenario([LIGHT.name], [short]) == ["lamp_light measure"]
    assert without_scenario([LIGHT.name], [short, SCENARIO]) == []
    points = [boundary.step for trial in trials(short) for boundary in trial.faults]
    assert set(points) == {"make", "light"}


def test_a_planned_fault_strikes_as_often_as_planned() -> None:
    faults, boundary = Faults(), Boundary("kind", "step", Point.BEFORE_STEP)
    faults.plan(boundary, Crash, times=2)
    faults.reach(Boundary("kind", "step", Point.BEFORE_STEP, undo=True))
    assert faults.pending() == {boundary: 2}
    for _ in range(2):
        with pytest.raises(Crash):
            faults.reach(boundary)
    faults.reach(boundary)
    faults.plan(boundary, Crash)
    faults.clear()
    faults.reach(boundary)
    assert faults.pending() == {}
