"""`python -m roost`: the command, with the interpreter that runs already."""

from roost.cli import main

main(prog_name="roost")
