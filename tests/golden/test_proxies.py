"""What may be changed in a child account by its parent's proxy user, whose tokens last 15 minutes.

Operations that let somebody or something in for longer, or that give away what the account has,
are not on the list (docs/decisions/0098-guards.md): a new operation is judged before it is added.
"""

from roost.app.groups import GROUPS
from roost.web.registry import Registry
from tests.golden.gaps import read_list


def test_what_proxies_may_is_on_the_list() -> None:
    may = [
        f"{endpoint.method} {endpoint.path}"
        for endpoint in Registry(GROUPS.endpoints)
        if endpoint.writes and not endpoint.public and "proxy" not in endpoint.refuses
    ]
    listed = read_list("proxies")
    new, gone = sorted(set(may) - set(listed)), sorted(set(listed) - set(may))
    assert not new, f"judge these, and refuse them to proxies or add them to proxies.txt: {new}"
    assert not gone, f"to be removed from proxies.txt: {gone}"
