"""The StackScript that a guest runs at the first boot from a disk (spec B compute create)."""

from collections.abc import Mapping
from typing import Protocol

from roost.core.context import Context
from roost.resources.compute.engine import FirstBootScript
from roost.resources.compute.neighbours import InstanceStackScripts


class Deployment(Protocol):
    """What bodies say about it."""

    stackscript_id: int | None
    stackscript_data: dict[str, object] | None


async def deploy(context: Context, compute_id: int, body: Deployment) -> FirstBootScript | None:
    """What the guest runs, as the script is now. Raises 400 when that is gone."""
    if body.stackscript_id is None:
        return None
    scripts = context.get(InstanceStackScripts)
    script = await scripts.deploy(context, compute_id, body.stackscript_id)
    data = body.stackscript_data or {}
    answers = {each.name: data.get(each.name, each.default or "") for each in script.questions}
    return FirstBootScript(script.text, variables_of(answers))


def variables_of(answers: Mapping[str, object]) -> dict[str, str]:
    """Environment variables: in capitals, as scripts of other clouds expect, and as asked for."""
    named = {name: str(answer) for name, answer in answers.items()}
    return {**{name.upper(): answer for name, answer in named.items()}, **named}
