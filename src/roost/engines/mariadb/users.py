"""The admin user of an account: everything in its own databases, nothing over the server.

Who may write to the schema `mysql`, or create, rename and drop users, makes themselves the
administrator of the server. Of all grants on schemas that fit, the most precise one holds alone,
so that a grant on `mysql` takes away what the one on all schemas gives.
"""

import re

from pydantic import SecretStr

from roost.resources.databases.engine import DatabaseSpec

_PLAIN = re.compile(r"[A-Za-z0-9]{1,64}")
_OWN = (
    "select, insert, update, delete, create, drop, references, index, alter,"
    " create temporary tables, lock tables, execute, create view, show view, create routine,"
    " alter routine, event, trigger"
)


def statements(spec: DatabaseSpec) -> SecretStr:
    """SQL that makes the user, or gives it another password. ValueError for unusual characters."""
    for text in (spec.username, spec.password):
        if not _PLAIN.fullmatch(text):
            raise ValueError("user and password consist of letters and digits")
    user = f"'{spec.username}'@'%'"
    return SecretStr(f"""
        create user if not exists {user} identified by '{spec.password}';
        alter user {user} identified by '{spec.password}';
        grant process, show databases on *.* to {user};
        grant {_OWN} on `%`.* to {user} with grant option;
        grant show view on mysql.* to {user};
        grant select, execute, show view on sys.* to {user};
        """)
