"""Volumes by the client that openapi-python-client makes."""

import json
import os

from roost_client.api.volumes import create_volume, delete_volume, list_volumes, view_volume
from roost_client.client import AuthenticatedClient
from roost_client.models import CreateVolume, ErrorBody, ListVolumesResponse200, VolumeRow

client = AuthenticatedClient(os.environ["ROOST_URL"], os.environ["ROOST_TOKEN"])

made = create_volume.sync(client=client, body=CreateVolume(label="python", region="us-lake"))
assert isinstance(made, VolumeRow), made
wanted = json.dumps({"label": {"+contains": "pyth"}})
page = list_volumes.sync(client=client, x_filter=wanted)
assert isinstance(page, ListVolumesResponse200), page
assert [volume.id for volume in page.data] == [made.id]
seen = view_volume.sync(made.id, client=client)
assert isinstance(seen, VolumeRow)
assert seen.size == 20
assert delete_volume.sync_detailed(made.id, client=client).status_code == 200
gone = view_volume.sync(made.id, client=client)
assert isinstance(gone, ErrorBody)
assert gone.errors[0].reason == "Not found"
print("openapi-python-client: ok")
