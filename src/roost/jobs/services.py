"""What steps reach besides the database."""

from roost.services import Services

__all__ = ["Services"]
