"""Transfer.

The pool of outbound transfer that the plans of your instances give.
"""
