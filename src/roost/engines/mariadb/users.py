"""The admin user of an account: everything in its own databases, nothing over the server.

Who may write to the schema `mysql`, or create, rename and drop users, makes themselves the
administrator of the server. Of all grants on schemas that fit, the most precise one holds alone,
so that a grant on `mysql` takes away what the one on all schemas gives. Who may grant could give
itself less in a schema of its own, or another way to log in; there is nobody else to give to.
"""

import re
from hashlib import sha1

from pydantic import SecretStr

from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import DatabaseSpec

_PLAIN = re.compile(r"[A-Za-z0-9]{1,64}")
_OWN = (
    "select, insert, update, delete, create, drop, references, index, alter,"
    " create temporary tables, lock tables, execute, create view, show view, create routine,"
    " alter routine, event, trigger"
)


_ONLY_THESE = """
    update mysql.db set grant_priv = 'N' where user = '{0}' and grant_priv = 'Y';
    delete from mysql.db where user = '{0}' and db not in ('%', 'mysql', 'sys');
    flush privileges;
    """
"""In earlier releases it could grant, and so take from itself what it had of single schemas."""
_OF_A_FULL_DISK = "select, delete, drop, lock tables, execute, show view"

_MAY_WRITE = SecretStr("""
    select count(*) from information_schema.schema_privileges
    where table_schema = '%' and privilege_type = 'INSERT'
    """)
"""1 or 0; nobody else has a right on all schemas."""


def identified_by(password: str) -> str:
    """SQL, with what servers keep of it: statements go into the binary log as they are."""
    # What the protocol's usual way to log in asks for; passwords here are long and random.
    first = sha1(password.encode(), usedforsecurity=False).digest()
    return f"identified by password '*{sha1(first, usedforsecurity=False).hexdigest().upper()}'"


def statements(spec: DatabaseSpec) -> SecretStr:
    """SQL that makes the user, or gives it another password. ValueError for unusual characters."""
    for text in (spec.username, spec.password):
        if not _PLAIN.fullmatch(text):
            raise ValueError("user and password consist of letters and digits")
    user = f"'{spec.username}'@'%'"
    own = f"grant {_OWN} on `%`.* to {user}; {_ONLY_THESE.format(spec.username)}"
    if spec.full:  # It may have given itself more on single tables.
        own = (
            f"revoke all privileges, grant option from {user};"
            f"grant {_OF_A_FULL_DISK} on `%`.* to {user};"
        )
    changing = f"""
        create user if not exists {user} {identified_by(spec.password)};
        alter user {user} {identified_by(spec.password)};
        {own}
        grant process, show databases on *.* to {user};
        grant show view on mysql.* to {user};
        grant select, execute, show view on sys.* to {user};
        """
    return SecretStr(unchecked(changing))


def unchecked(statements: str) -> str:
    """SQL that changes passwords, which nobody else may."""
    return (
        "set global strict_password_validation = 0;"
        f"{statements}; set global strict_password_validation = 1;"
    )


async def limit_writes(server: Server, spec: DatabaseSpec) -> None:
    """Whoever is connected would keep what it may do, and is to connect anew. EngineError."""
    doing = "What the user may do could not be set"
    if (await server.execute(doing, _MAY_WRITE)).strip() == str(int(spec.full)):
        text = f"{statements(spec).get_secret_value()} kill user {spec.username};"
        await server.execute(doing, SecretStr(text))
