"""`roost dashboard`, beside a server."""

import re
import subprocess
import urllib.request
from http.cookiejar import CookieJar
from urllib.parse import urlencode

from click.testing import CliRunner

from roost.cli import main
from tests.cli.process import ROOST, Server, wait_until


def test_it_shows_what_the_commands_show(server: Server) -> None:
    listen = ("--listen", "127.0.0.1:0")
    command = (ROOST, "dashboard", *listen, "--state", server.state)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            link = process.stdout.readline().split()[-1]
            url, key = link.split("/enter?key=")
            cookies = urllib.request.HTTPCookieProcessor(CookieJar())
            browser = urllib.request.build_opener(cookies)

            def get(path: str, **form: str) -> str:
                data = urlencode(form).encode() if form else None
                with browser.open(url + path, data, timeout=120) as answer:
                    return str(answer.read().decode())

            get("/enter", key=key)
            wait_until(lambda: server.url in get("/"))  # A busy server may not answer in time.
            assert process.stdout.readline().startswith("operator's pages, good once: ")
            assert "simulated" in get("/engines")
            csrf = re.search('name="csrf" value="([0-9a-f]+)"', get("/fsck"))
            assert csrf is not None
            assert "<dt>Outcome</dt>" in get("/fsck?do=check", csrf=csrf[1], repair="no")
        finally:
            process.terminate()
    assert process.returncode == 0


def test_it_is_for_this_machine_alone(server: Server) -> None:
    words = ["dashboard", "--listen", "0.0.0.0:0", "--state", str(server.state)]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, "for this machine alone" in done.output) == (2, True)
