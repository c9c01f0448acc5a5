"""`python -m roost`: the command, with the interpreter that runs already."""

from roost.cli import main

if __name__ == "__main__":
    main(prog_name="roost")
