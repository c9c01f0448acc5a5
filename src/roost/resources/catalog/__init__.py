"""The catalogue: regions, plans, kernels, public images and address pools of an operator."""

from roost.resources.catalog.catalog import Catalog
from roost.resources.catalog.loader import CatalogError, load
from roost.resources.catalog.sync import sync

__all__ = ["Catalog", "CatalogError", "load", "sync"]
