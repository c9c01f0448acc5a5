"""The catalogue: regions, plans, kernels, public images and address pools of an operator."""

from roost.core.catalog.catalog import Catalog
from roost.core.catalog.loader import CatalogError, load
from roost.core.catalog.sync import sync

__all__ = ["Catalog", "CatalogError", "load", "sync"]
