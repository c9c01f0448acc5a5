"""Maintenance on the command line."""

import pytest

from tests.cli.process import Json, Server, ran, roost

_FUTURE = "2126-12-01T03:00:00"


def schedule(server: Server, compute_id: int, when: str) -> str:
    options = ("--type", "reboot", "--when", when, "--reason", "a fan is loud")
    return ran("maintenance", "schedule", "--state", server.state, str(compute_id), *options)


def listed(server: Server, maintenance_id: str) -> list[str]:
    """The columns of a line."""
    lines = ran("maintenance", "list", "--state", server.state).splitlines()
    return next(line.split(maxsplit=5) for line in lines if line.startswith(maintenance_id))


def seen(server: Server) -> list[Json]:
    """What the user is shown."""
    status, page = server.send("GET", "/account/maintenance")
    assert status == 200
    return list(page["data"])


def test_schedule_and_cancel(server: Server) -> None:
    compute_id = server.instance(label="to-be-spared")
    number = schedule(server, compute_id, _FUTURE)
    fields = [str(compute_id), "reboot", _FUTURE, "pending", "a fan is loud"]
    assert listed(server, number) == [number, *fields]
    assert [(row["when"], row["entity"]["id"]) for row in seen(server)] == [(_FUTURE, compute_id)]
    assert ran("maintenance", "cancel", "--state", server.state, number) == ""
    assert listed(server, number)[4] == "canceled"
    assert seen(server) == []
    again = roost("maintenance", "cancel", "--state", server.state, number)
    assert again.returncode == 1
    assert f"maintenance {number} is canceled already" in again.stderr


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"compute_id": "999999999"}, "there is no instance 999999999"),
        ({"--type": "move"}, "'move' is not one of"),
        ({"--when": "2126-12-01"}, "does not match the format"),
        ({"--when": "2126-13-01T03:00:00"}, "does not match the format"),
        ({"--reason": " "}, "must not be empty"),
    ],
)
def test_refusals(server: Server, changed: dict[str, str], message: str) -> None:
    given = {"compute_id": "1", "--type": "reboot", "--when": _FUTURE, "--reason": "x", **changed}
    compute_id = given.pop("compute_id")
    options = [part for option in given.items() for part in option]
    done = roost("maintenance", "schedule", "--state", server.state, compute_id, *options)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert seen(server) == []


def test_cancel_what_does_not_exist(server: Server) -> None:
    done = roost("maintenance", "cancel", "--state", server.state, "1")
    assert done.returncode == 1
    assert "there is no maintenance 1" in done.stderr
