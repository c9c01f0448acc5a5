"""What is wrong, and the letters by which operators are told.

Nobody but operators sees it, so there are no endpoints.
"""
