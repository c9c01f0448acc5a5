"""Personal access tokens.

Tokens of your own, for programs.
"""
