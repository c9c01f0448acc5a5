"""The `roost` command, which remembers tokens for an hour unless it is told of them."""

from roost.cli import main
from roost.web import auth

if __name__ == "__main__":
    vars(auth)["CACHE_SECONDS"] = 3600.0
    main()
