"""Tokens that their owners narrow without asking anybody (docs/tokens.md)."""

from roost.core.narrowing.restrictions import Restriction, narrow

__all__ = ["Restriction", "narrow"]
