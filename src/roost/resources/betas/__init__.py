"""Beta programs.

What accounts may try before it is offered to all.
"""
