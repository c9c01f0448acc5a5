"""What a tenant's command line calls the API's operations, and how calls are written down.

It knows nothing of the server: `commands.json` is written by `scripts/commands.py`.
"""

from roost.commands.operations import Command, Option, command_of, find_command, names

__all__ = ["Command", "Option", "command_of", "find_command", "names"]
