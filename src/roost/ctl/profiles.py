"""Where a person is logged in: addresses and tokens, in a file that nobody else reads."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from roost.ctl.errors import NOT_ALLOWED, WRONG_USE, CommandError

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Profile:
    url: str
    token: str = field(repr=False)
    ca: str | None = None
    """A file with the certificates of who is trusted beside the system's."""
    client_id: str | None = None
    """Of a login by browser, whose token is renewed."""
    refresh_token: str | None = field(default=None, repr=False)
    expires: float | None = None
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Profiles:
    current: str = DEFAULT
    by_name: Mapping[str, Profile] = field(default_factory=dict)


def folder() -> Path:
    """By the XDG Base Directory Specification; CommandError for somebody without a home."""
    config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    try:
        return Path(config).expanduser() / "roost"
    except RuntimeError:
        raise CommandError("set HOME or XDG_CONFIG_HOME: profiles are there", WRONG_USE) from None


def path() -> Path:
    return folder() / "profiles.json"


def read() -> Profiles:
    """CommandError when the file is not to be trusted, or damaged."""
    file = path()
    try:
        with file.open() as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if mode & 0o077:
                raise CommandError(f"others may read {file}: chmod 600 {file}", WRONG_USE)
            found = json.load(opened)
        profiles = {name: Profile(**each) for name, each in found["profiles"].items()}
        return Profiles(str(found["current"]), profiles)
    except FileNotFoundError:
        return Profiles()
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}", WRONG_USE) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CommandError(f"{file} is damaged: remove it and log in again", WRONG_USE) from None


@contextmanager
def locked() -> Iterator[None]:
    """One command at a time changes the file, or renews a token; CommandError where none can."""
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder() / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        text = f"{folder()} cannot be written to: {error.strerror}"
        raise CommandError(text, WRONG_USE) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write(profiles: Profiles) -> None:
    """Whole or not at all, readable by its owner alone. To be called with the lock."""
    found = {name: asdict(each) for name, each in profiles.by_name.items()}
    text = json.dumps({"current": profiles.current, "profiles": found}, indent=2)
    new = path().with_suffix(".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(path())


def keep(name: str, profile: Profile) -> None:
    """And make it the current one."""
    with locked():
        profiles = read()
        write(Profiles(name, {**profiles.by_name, name: profile}))


def drop(name: str) -> None:
    with locked():
        profiles = read()
        left = {key: each for key, each in profiles.by_name.items() if key != name}
        current = profiles.current if profiles.current in left else next(iter(left), DEFAULT)
        write(Profiles(current, left))


def use(name: str) -> None:
    with locked():
        write(replace(read(), current=name))


def chosen_name(wanted: str | None) -> str:
    """`--profile`, ROOST_PROFILE, or the current one."""
    return wanted or os.environ.get("ROOST_PROFILE") or read().current


def choose(wanted: str | None) -> Profile:
    """Where a command goes, and as whom: the environment comes first, then the profile.

    A profile's token goes to no other server than the profile's.
    """
    url, token = os.environ.get("ROOST_URL"), os.environ.get("ROOST_TOKEN", "").strip()
    ca = os.environ.get("ROOST_CA")
    if url and token and not wanted:
        return Profile(checked_url(url), token, ca)
    name = chosen_name(wanted)
    profile = read().by_name.get(name)
    if profile is None:
        raise CommandError(
            f"there is no profile {name}: `roostctl auth login`, or set ROOST_URL and ROOST_TOKEN",
            NOT_ALLOWED,
        )
    if wanted:
        return profile
    if url and checked_url(url) != profile.url:
        raise CommandError(
            "ROOST_URL is another server than the profile's: set ROOST_TOKEN too", NOT_ALLOWED
        )
    if token:
        profile = Profile(profile.url, token, profile.ca)
    return replace(profile, ca=ca) if ca else profile


def checked_url(text: str) -> str:
    """The address of a server, without a slash at its end; CommandError."""
    try:
        parts = urlsplit(text.rstrip("/"))
        port = parts.port
        (parts.hostname or "").encode("idna")
        parts.path.encode("ascii")
    except ValueError:
        parts, port = urlsplit(""), None
    plain = parts.scheme in ("http", "https") and parts.hostname and port != 0
    if not plain or parts.username or parts.password or parts.query or parts.fragment:
        raise CommandError("the address must be like https://cloud.example.com", WRONG_USE)
    return f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('/v4')}"
