"""`roost` whose new volumes are made by the bare server's own statement: what is left is the edge.

python -m bench.floor serve --no-worker …
"""

from bench.statements import MAKE_VOLUME
from roost.cli.main import main
from roost.core.context import Context
from roost.resources.volumes import service
from roost.resources.volumes.bodies import CreateVolume


async def _make(context: Context, body: CreateVolume) -> str:
    record: str = await context.db.fetchval(MAKE_VOLUME, context.account_id, body.label)
    return record


service.create = _make
main()
