"""Phone numbers.

The number of your user, proven by a code that is sent to it.
"""
