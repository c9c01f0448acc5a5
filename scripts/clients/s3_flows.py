"""Tools that speak S3, as programs: each makes its way through a bucket and a key of the API.

Their names are the arguments; none: all. `S3_LARGE_MIB` is the size of what is sent in parts. Names
of buckets as hosts are tried with the server as the client's proxy, where DNS does not know them.
"""

import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from flows import REGION, run, until
from linode_zone import call

URL = os.environ["S3_URL"]
LARGE = int(os.environ.get("S3_LARGE_MIB", "24")) << 20
NAMES = ("plain.txt", "a b+c.txt", "dir/ü?&#.txt", "pc%41t")
PAGE = """<!doctype html><body><script>
const tried = async (url, more) => {
  try { const found = await fetch(url, more); return [found.status, await found.text()] }
  catch (error) { return [0, error.message] }
}
(async () => {
  const headers = {"Content-Type": "text/plain"}
  const put = await tried(PUT, {method: "PUT", body: "by a page", headers})
  const got = await tried(GET, {})
  document.title = JSON.stringify([put, got])
})()
</script>"""


class Place:
    """A folder with files, a bucket of its own, and a key for all buckets."""

    def __init__(self, tool: str) -> None:
        self.program = tool
        self.bucket = f"{tool}-{os.urandom(4).hex()}"
        (self.cluster,) = (
            each
            for each in call("GET", "/object-storage/clusters")["data"]
            if each["region"] == REGION
        )
        call(
            "POST", "/object-storage/buckets", {"label": self.bucket, "cluster": self.cluster["id"]}
        )
        self.key = call("POST", "/object-storage/keys", {"label": tool})
        settle()
        self.folder = Path(tempfile.mkdtemp())
        self.files = self.folder / "files"
        for number, name in enumerate(NAMES):
            path = self.files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"file {number}\n")
        (self.files / "large").write_bytes(os.urandom(1 << 20) * (LARGE >> 20))
        self.virtual = False

    @property
    def environment(self) -> dict[str, str]:
        found = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "AWS_ACCESS_KEY_ID": self.key["access_key"],
            "AWS_SECRET_ACCESS_KEY": self.key["secret_key"],
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        return found | ({"http_proxy": URL, "HTTP_PROXY": URL} if self.virtual else {})

    @property
    def endpoint(self) -> str:
        return f"http://{self.cluster['domain']}" if self.virtual else URL

    def __call__(self, *arguments: str | Path, **more: str) -> str:
        """What the program prints."""
        done = subprocess.run(
            [shutil.which(self.program, path=self.environment["PATH"]) or self.program, *arguments],
            cwd=self.folder,
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=900,
        )
        if done.returncode != 0:
            raise AssertionError(f"{arguments[:3]}: {(done.stderr or done.stdout)[-300:]}")
        return done.stdout

    def same(self, other: Path) -> None:
        """Whether a folder holds the same files."""
        for name in (*NAMES, "large"):
            assert (other / name).read_bytes() == (self.files / name).read_bytes(), name

    def listed(self) -> list[str]:
        """As the API lists it."""
        path = f"/object-storage/buckets/{self.cluster['id']}/{self.bucket}/object-list"
        return [each["name"] for each in call("GET", path)["data"]]


def settle() -> None:
    """Until all events are over."""
    open_ = {"scheduled", "started"}
    until(lambda: not open_ & {each["status"] for each in call("GET", "/account/events")["data"]})


def aws(virtual: bool) -> None:
    place = Place("aws")
    place.virtual = virtual
    style = "virtual" if virtual else "path"
    place("configure", "set", "default.s3.addressing_style", style)
    s3, bucket = ("s3", "--endpoint-url", place.endpoint), f"s3://{place.bucket}"
    place(*s3, "sync", place.files, bucket)
    assert set(place.listed()) == {*NAMES, "large"}
    place(*s3, "sync", bucket, place.folder / "back")
    place.same(place.folder / "back")
    url = place(*s3, "presign", f"{bucket}/plain.txt", "--expires-in", "600").strip()
    assert urlsplit(url).netloc.startswith(place.bucket if virtual else "127.")
    place(*s3, "cp", f"{bucket}/plain.txt", f"{bucket}/copy.txt")
    reason = ""
    try:
        place(*s3, "cp", place.files / "plain.txt", f"{bucket}/c", "--acl", "public-read")
    except AssertionError as error:
        reason = str(error)
    assert "AccessDenied" in reason, "an ACL was taken"
    place(*s3, "rm", "--recursive", bucket)
    made = f"{place.bucket}-made-{style}"
    place(*s3, "mb", f"s3://{made}")
    settle_bucket(place, made)
    place(*s3, "cp", place.files / "plain.txt", f"s3://{made}/")
    assert made in place(*s3, "ls")


def settle_bucket(place: Place, label: str) -> None:
    """Until what an S3 client made is a bucket of the API, with its job done."""
    path = f"/object-storage/buckets/{place.cluster['id']}"
    until(lambda: label in [each["label"] for each in call("GET", path)["data"]])
    settle()


def s3cmd(virtual: bool) -> None:
    place = Place("s3cmd")
    host = urlsplit(URL).netloc
    proxy = urlsplit(URL)
    config = [
        "[default]",
        f"access_key = {place.key['access_key']}",
        f"secret_key = {place.key['secret_key']}",
        "use_https = False",
        f"host_base = {place.cluster['domain'] if virtual else host}",
        f"host_bucket = %(bucket)s.{place.cluster['domain']}"
        if virtual
        else f"host_bucket = {host}",
        "multipart_chunk_size_mb = 5",
    ]
    if virtual:
        config += [f"proxy_host = {proxy.hostname}", f"proxy_port = {proxy.port}"]
    (place.folder / ".s3cfg").write_text("\n".join(config))
    bucket = f"s3://{place.bucket}/"
    place("put", "--recursive", f"{place.files}/", bucket)
    assert set(place.listed()) == {*NAMES, "large"}
    (place.folder / "back").mkdir()
    place("get", "--recursive", bucket, f"{place.folder / 'back'}/")
    place.same(place.folder / "back")
    # It would copy the ACL besides, which S3 has not.
    place("cp", f"{bucket}plain.txt", f"{bucket}copy.txt")
    place("del", "--recursive", "--force", bucket)
    until(lambda: place.listed() == [])


def rclone(virtual: bool) -> None:
    place = Place("rclone")
    place.virtual = virtual
    place(
        *("config", "create", "s3", "s3", "provider=Other", "env_auth=true"),
        *(f"endpoint={place.endpoint}", f"force_path_style={'false' if virtual else 'true'}"),
    )
    bucket = f"s3:{place.bucket}"
    place("sync", "--s3-chunk-size=5Mi", "--s3-upload-cutoff=5Mi", place.files, bucket)
    assert set(place.listed()) == {*NAMES, "large"}
    place("check", "--download", place.files, bucket)
    place("moveto", f"{bucket}/plain.txt", f"{bucket}/moved.txt")
    assert place("cat", f"{bucket}/moved.txt") == "file 0\n"
    place("delete", bucket)
    assert place("lsf", "-R", "--files-only", bucket) == ""
    assert f"{place.bucket}/" in place("lsf", "s3:").splitlines()


def restic(_virtual: bool) -> None:
    place = Place("restic")
    more = {"RESTIC_PASSWORD": "secret", "RESTIC_REPOSITORY": f"s3:{URL}/{place.bucket}"}
    place("init", **more)
    place("backup", place.files, **more)
    place("check", "--read-data", **more)
    place("restore", "latest", "--target", place.folder / "back", **more)
    place.same(Path(f"{place.folder / 'back'}{place.files}"))
    place("forget", "--keep-last", "1", "--prune", **more)


def s3fs(_virtual: bool) -> None:
    place, mounted = Place("s3fs"), Path(tempfile.mkdtemp())
    options = f"url={URL},use_path_request_style,multipart_size=10"
    place(place.bucket, mounted, "-o", options)
    try:
        for name in ("plain.txt", "a b+c.txt", "large"):
            shutil.copy(place.files / name, mounted)
            assert (mounted / name).read_bytes() == (place.files / name).read_bytes()
        (mounted / "plain.txt").rename(mounted / "moved.txt")
        (mounted / "a b+c.txt").unlink()
        assert sorted(each.name for each in mounted.iterdir()) == ["large", "moved.txt"]
    finally:
        subprocess.run(["umount", mounted], check=True)
    assert place.listed() == ["large", "moved.txt"]


def chromium(_virtual: bool) -> None:
    place = Place("chromium")
    path = f"/object-storage/buckets/{place.cluster['id']}/{place.bucket}"
    call("POST", f"{path}/access", {"acl": "public-read"})
    for enabled in (True, False):
        call("POST", f"{path}/access", {"cors_enabled": enabled})
        settle()
        wanted = {"name": "page.txt", "method": "PUT", "content_type": "text/plain"}
        url = call("POST", f"{path}/object-url", wanted)["url"]
        put, got = in_a_page(place, url, f"{URL}/{place.bucket}/page.txt")
        if enabled:
            assert (put[0], got) == (200, [200, "by a page"]), (put, got)
        else:
            assert put == got == [0, "Failed to fetch"], (put, got)


def in_a_page(place: Place, put: str, get: str) -> list[list[int | str]]:
    """What a page of another origin is answered that writes an object by a URL and then gets it."""
    page = PAGE.replace("PUT,", f"{json.dumps(put)},").replace("GET,", f"{json.dumps(get)},")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        shown = place(
            *("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"),
            *(f"--user-data-dir={place.folder}", "--dump-dom"),
            f"http://127.0.0.1:{server.server_port}/",
        )
        server.shutdown()
    title = html.unescape(shown.partition("<title>")[2].partition("</title>")[0])
    found: list[list[int | str]] = json.loads(title)
    return found


_PARTS = "whole folders there and back, large files in parts, names with odd characters, copies"
FLOWS: dict[str, tuple[Callable[[bool], None], str, bool]] = {
    "aws": (aws, f"{_PARTS}, a bucket of its own", True),
    "s3cmd": (s3cmd, _PARTS, True),
    "rclone": (rclone, _PARTS, True),
    "restic": (restic, "a backup, checked and restored", False),
    "s3fs": (s3fs, "a mounted bucket without folders: copy, read, rename, delete", False),
    "chromium": (chromium, "a page of another origin, with CORS and without", False),
}


def flows(tools: list[str]) -> Iterator[Callable[[], None]]:
    """By paths, and with the bucket as a host where the tool can be told so."""
    for tool in tools or list(FLOWS):
        act, text, hosts = FLOWS[tool]
        for virtual in (False, True) if hosts else (False,):
            flow = partial(act, virtual)
            how = "bucket as a host" if virtual else "bucket in the path"
            flow.__doc__ = f"{tool}: {text} ({how})"
            yield flow


run(list(flows(sys.argv[1:])))
