"""VPCs over HTTP."""

from roost.ids import new_uuid
from tests.support.client import Client, Json

VPCS = "/vpcs"


def subnet(number: int = 1, **changes: object) -> Json:
    return {"label": f"subnet-{number}", "ipv4": f"10.0.{number}.0/24", **changes}


async def made_vpc(client: Client, **changes: object) -> Json:
    """A new VPC with one subnet."""
    body = {"label": f"v{new_uuid()[:8]}", "region": "us-lake", "subnets": [subnet()]}
    return await client.post(VPCS, {**body, **changes})


def inside(vpc: Json, at: int = 0, **changes: object) -> Json:
    """An interface in a subnet of a VPC."""
    return {"purpose": "vpc", "subnet_id": vpc["subnets"][at]["id"], **changes}
