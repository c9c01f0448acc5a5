"""StackScripts for tests."""

from tests.support.client import Client, Json

STACKSCRIPTS = "/compute/stackscripts"
SCRIPT = '#!/bin/sh\n# <UDF name="site" label="Name of the site" default="a"/>\nnginx $SITE\n'


def script_body(**changes: object) -> Json:
    images = ["roost/debian12", "any/all"]
    return {"label": "web", "images": images, "script": SCRIPT, **changes}


async def scripted(client: Client, **changes: object) -> Json:
    return await client.post(STACKSCRIPTS, script_body(**changes))
