"""The tenants' command line as a process of its own, against a server."""

import asyncio
import gzip
import json
import os
import re
import socket
import stat
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest

from roost.ctl.browser import PATH
from tests.api.conftest import Account
from tests.support.browser import Browser
from tests.support.client import Client
from tests.support.server import RunningRoost
from tests.support.uploads import disk_bytes

PROGRAM = Path(sys.executable).with_name("roostctl")
SECONDS = 120


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where somebody types commands."""

    environment: Mapping[str, str]
    folder: Path

    async def run(self, *words: str, typed: str = "") -> Done:
        process = await self.start(*words)
        async with asyncio.timeout(SECONDS):
            out, err = await process.communicate(typed.encode())
        assert process.returncode is not None
        return Done(process.returncode, out.decode(), err.decode())

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            PROGRAM,
            *words,
            env=self.environment,
            cwd=self.folder,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )

    async def json(self, *words: str, typed: str = "") -> object:
        done = await self.run(*words, "--json", typed=typed)
        assert done.code == 0, done.err
        return json.loads(done.out)


def environment(folder: Path, **more: str) -> Mapping[str, str]:
    own = {k: v for k, v in os.environ.items() if not k.startswith("ROOST_")}
    return {**own, "XDG_CONFIG_HOME": str(folder / "config"), "COLUMNS": "100", **more}


@pytest.fixture
def nobody_there_yet(tmp_path: Path) -> Terminal:
    """Nobody is logged in."""
    return Terminal(environment(tmp_path, BROWSER="true"), tmp_path)


@pytest.fixture
def token(client: Client) -> str:
    """That of `client`."""
    assert client.token is not None
    return client.token


@pytest.fixture
def terminal(tmp_path: Path, running: RunningRoost, token: str) -> Terminal:
    """With the account's token in the environment."""
    more = {"ROOST_URL": running.url, "ROOST_TOKEN": token}
    return Terminal(environment(tmp_path, **more), tmp_path)


async def test_a_volume_from_its_price_to_its_end(
    terminal: Terminal, client: Client, token: str
) -> None:
    new = ("volumes", "create", "--label", "data", "--region", "us-lake", "--size", "20")
    price = await terminal.run(*new, "--dry-run")
    assert price.out == "It would cost $0.003 an hour, $2.00 a month at most.\n"
    assert (await client.get("/volumes"))["results"] == 0
    curl = await terminal.run(*new, "--curl")
    assert token not in curl.out
    assert "$ROOST_TOKEN" in curl.out
    assert (await client.get("/volumes"))["results"] == 0
    made = await terminal.json(*new, "--tags", "web", "--wait")
    (volume,) = (await client.get("/volumes"))["data"]
    assert made == volume
    assert (volume["status"], volume["tags"]) == ("active", ["web"])
    listed = await terminal.run(
        "volumes", "list", "--filter", "label~dat", "--columns", "label,size"
    )
    assert listed.out == "LABEL  SIZE\ndata   20\n"
    number = str(volume["id"])
    refused = await terminal.run("volumes", "delete", number)
    assert (refused.code, refused.err) == (2, "Error: this cannot be taken back: say --yes\n")
    done = await terminal.run("volumes", "delete", number, "--yes", "--wait")
    assert (done.code, done.out) == (0, "")
    gone = await terminal.run("volumes", "view", number)
    assert gone.code == 4
    assert re.fullmatch(r"Error: Not found\nRequest: [0-9a-f]+\n", gone.err)


async def test_secrets_are_in_no_output(terminal: Terminal, token: str) -> None:
    new = ("instances", "create", "--region", "us-lake", "--type", "g1-nano-1")
    with_disk = (*new, "--image", "roost/debian12", "--root-pass", "-")
    done = await terminal.run(*with_disk, "--label", "not good", typed="hush-Horse7battery\n")
    assert done.code == 1
    assert "label: " in done.err
    assert "hush" not in done.err + done.out
    assert token not in done.err + done.out
    curl = await terminal.run(*with_disk, "--curl", typed="hush-Horse7battery\n")
    assert curl.code == 0
    assert "hush" not in curl.out


async def test_lists_of_several_pages(terminal: Terminal, client: Client) -> None:
    for number in range(3):
        await client.post("/tags", {"label": f"tag{number}"})
    rows = await terminal.json("tags", "list", "--all")
    assert rows == (await client.get("/tags"))["data"]
    assert (await terminal.run("volumes", "list")).err == "There are none.\n"


async def test_what_is_refused_has_codes(terminal: Terminal, running: RunningRoost) -> None:
    assert (await terminal.run("volumes", "view", "1")).code == 4
    assert (await terminal.run("volumes", "create", "--size", "20")).code == 2
    wrong = {**terminal.environment, "ROOST_TOKEN": "f" * 64}
    assert (await Terminal(wrong, terminal.folder).run("volumes", "list")).code == 3
    with closing(socket.socket()) as deaf:  # Nobody listens there, and nobody else gets the port.
        deaf.bind(("127.0.0.1", 0))
        nowhere = {**terminal.environment, "ROOST_URL": f"http://127.0.0.1:{deaf.getsockname()[1]}"}
        done = await Terminal(nowhere, terminal.folder).run("volumes", "delete", "1", "--yes")
    assert done.code == 5
    assert "cannot be reached" in done.err


async def test_files_go_up_and_down(terminal: Terminal, client: Client) -> None:
    ticket = await client.post("/support/tickets", {"summary": "x", "description": "y"})
    (terminal.folder / "notes.txt").write_text("one\n")
    up = ("tickets", "upload-attachment", str(ticket["id"]), "--file", "notes.txt")
    assert (await terminal.run(*up)).code == 0
    assert (await client.get(f"/support/tickets/{ticket['id']}"))["attachments"] == ["notes.txt"]
    done = await terminal.run("invoices", "view-pdf", "1", "--output", "invoice.pdf")
    assert done.code == 4
    assert sorted(each.name for each in terminal.folder.iterdir()) == ["notes.txt"]


async def test_an_image_is_sent(terminal: Terminal, client: Client) -> None:
    (terminal.folder / "disk.img.gz").write_bytes(gzip.compress(disk_bytes("mark")))
    new = ("images", "upload", "--label", "built", "--region", "us-lake")
    done = await terminal.run(*new, "--file", "disk.img.gz", "--wait")
    assert done.code == 0, done.err
    (image,) = (await client.get("/images?page_size=500", filter={"label": "built"}))["data"]
    assert (image["status"], image["size"]) == ("available", 1)
    (terminal.folder / "disk.img.gz").write_bytes(b"no gzip")
    done = await terminal.run(*new, "--file", "disk.img.gz", "--wait")
    assert (done.code, "gzip" in done.err) == (1, True), done


@pytest.mark.parametrize(("typed", "code", "left"), [("other", 2, 1), ("data", 0, 0)])
async def test_a_person_types_the_label(
    terminal: Terminal, client: Client, typed: str, code: int, left: int
) -> None:
    volume = await client.post("/volumes", {"label": "data", "region": "us-lake"})
    person, program = os.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            *(PROGRAM, "volumes", "delete", str(volume["id"]), "--wait"),
            env=terminal.environment,
            stdin=program,
            stderr=asyncio.subprocess.PIPE,
        )
        os.write(person, f"{typed}\n".encode())
        async with asyncio.timeout(SECONDS):
            _, err = await process.communicate()
    finally:
        os.close(person)
        os.close(program)
    assert b"Type data to go on" in err
    assert process.returncode == code, err
    assert (await client.get("/volumes"))["results"] == left


async def test_events_as_they_come(terminal: Terminal, client: Client) -> None:
    process = await terminal.start("events", "stream", "--action", "tag_create")
    assert process.stdout is not None
    line = asyncio.create_task(process.stdout.readline())
    try:
        async with asyncio.timeout(SECONDS):
            while not line.done():
                await client.post("/tags", {"label": "told"})
                await client.delete("/tags/told")
                await asyncio.sleep(0.1)
        assert "tag_create notification tag told" in (await line).decode()
    finally:
        process.kill()
        await process.communicate()


async def test_login_with_a_token(
    nobody_there_yet: Terminal, running: RunningRoost, token: str, account: Account
) -> None:
    terminal = nobody_there_yet
    nowhere = await terminal.run("volumes", "list")
    assert nowhere.code == 3
    assert "roostctl auth login" in nowhere.err
    (terminal.folder / "token").write_text(f"{token}\n")
    login = ("auth", "login", "--url", running.url)
    told = await terminal.run(*login, "--token", token)
    assert told.code == 2
    assert token not in told.err
    done = await terminal.run(*login, "--token", "@token")
    assert done.out == f"Logged in to {running.url} as {account.username}.\n"
    file = terminal.folder / "config/roost/profiles.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    status = await terminal.run("auth", "status")
    assert status.out == f"{account.username} at {running.url}, scopes: *\n"
    assert (await terminal.run("volumes", "list")).code == 0
    assert (await terminal.run("auth", "logout")).code == 0
    assert (await terminal.run("volumes", "list")).code == 3


async def test_login_by_browser(
    nobody_there_yet: Terminal,
    running: RunningRoost,
    client: Client,
    user_browser: Browser,
) -> None:
    """And the token is renewed when its end is near, once for two commands; logout ends it."""
    terminal = nobody_there_yet
    with closing(socket.socket()) as kept:  # Nobody else gets the port: not even by chance.
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        port = kept.getsockname()[1]
        redirect = f"http://127.0.0.1:{port}{PATH}"
        body = {"label": "roostctl", "redirect_uri": redirect, "public": True}
        app = await client.post("/account/oauth-clients", body)
        words = ("auth", "login", "--url", running.url, "--browser", "--client-id", app["id"])
        process = await terminal.start(*words, "--port", str(port), "--scopes", "volumes:read_only")
        async with asyncio.timeout(SECONDS):
            await allow(process, user_browser)
            out, err = await process.communicate()
    assert process.returncode == 0, err
    assert b"Logged in to" in out
    file = terminal.folder / "config/roost/profiles.json"
    kept_before = json.loads(file.read_text())
    profile = kept_before["profiles"]["default"]
    assert profile["token"] not in (out + err).decode()
    profile["expires"] = 0
    file.write_text(json.dumps(kept_before))
    both = await asyncio.gather(*(terminal.run("volumes", "list") for _ in range(2)))
    assert [each.code for each in both] == [0, 0], both
    renewed = json.loads(file.read_text())["profiles"]["default"]
    assert renewed["token"] != profile["token"]
    assert (await terminal.run("auth", "logout")).code == 0
    answer = await client.as_user(renewed["token"]).send("GET", "/volumes")
    assert answer.status == 401


async def allow(process: asyncio.subprocess.Process, browser: Browser) -> None:
    """What the person does whose browser has been opened; strangers' answers are not taken."""
    assert process.stderr is not None
    lines = [await process.stderr.readline()]
    while b"/oauth/authorize?" not in lines[-1]:
        assert lines[-1], lines
        lines.append(await process.stderr.readline())
    url = urlsplit(lines[-1].decode().strip())
    page = await browser.send("GET", f"{url.path}?{url.query}")
    answer = await browser.submit(page, decision="allow")
    redirect = parse_qs(url.query)["redirect_uri"][0]
    async with aiohttp.ClientSession() as session:
        for stray in (f"{redirect}?code=x&state=y", redirect.replace(PATH, "/favicon.ico")):
            async with session.get(stray) as response:
                assert response.status == 404
        assert answer.location is not None
        async with session.get(answer.location) as response:
            assert response.status == 200
