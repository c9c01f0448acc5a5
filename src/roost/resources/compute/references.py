"""How bodies name compute instances."""

from typing import Annotated

from roost.core.references import OfKind
from roost.ids import MAX_ID
from roost.resources.compute.queries import COMPUTE
from roost.web.checks import Refers
from roost.web.fields import Between

Id = Annotated[int, Between(1, MAX_ID)]

ComputeId = Annotated[Id, Refers(OfKind(COMPUTE, "read_write"))]
"""An instance of the account that the caller may change."""
