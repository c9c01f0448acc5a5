"""Volumes by the client that openapi-generator makes in Python."""

import json
import os

from roost_api import ApiClient, Configuration, CreateVolume
from roost_api.api import VolumesApi
from roost_api.exceptions import ApiException, NotFoundException

configuration = Configuration(os.environ["ROOST_URL"], access_token=os.environ["ROOST_TOKEN"])
volumes = VolumesApi(ApiClient(configuration))

made = volumes.create_volume(CreateVolume(label="python", region="us-lake"))
page = volumes.list_volumes(x_filter=json.dumps({"label": {"+contains": "pyth"}}))
assert [volume.id for volume in page.data] == [made.id]
assert volumes.view_volume(made.id).size == 20
volumes.delete_volume(made.id)
gone: ApiException | None = None
try:
    volumes.view_volume(made.id)
except NotFoundException as refused:
    gone = refused
assert gone is not None
assert "Not found" in str(gone.body)
print("openapi-generator, Python: ok")
