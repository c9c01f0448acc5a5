"""The OpenAPI 3.1 document, made from the declarations."""

from roost.web.openapi.document import build_document

__all__ = ["build_document"]
