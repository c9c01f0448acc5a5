"""The revisions that were released, the oldest first. How one is added: docs/revisions.md."""

from roost.web.headers import REVISION
from roost.web.revisions.revision import Revision

RELEASED = (Revision(REVISION, "The first."),)
