"""boto3, with a bucket and a key that the API made."""

import os

import boto3
from botocore.exceptions import ClientError, EndpointConnectionError
from flows import REGION, run, until
from linode_zone import call


def objects() -> None:
    """Bucket and key by the API; put, list, get and delete by S3."""
    clusters = call("GET", "/object-storage/clusters")["data"]
    (cluster,) = (each for each in clusters if each["region"] == REGION)
    wanted = {"label": "boto3-flows", "cluster": cluster["id"]}
    bucket = call("POST", "/object-storage/buckets", wanted)
    key = call("POST", "/object-storage/keys", {"label": "boto3"})
    s3 = boto3.client(
        "s3",
        endpoint_url=os.environ["S3_URL"],
        region_name="us-east-1",
        aws_access_key_id=key["access_key"],
        aws_secret_access_key=key["secret_key"],
        config=boto3.session.Config(s3={"addressing_style": "path"}),
    )

    def is_there() -> bool:
        try:
            s3.head_bucket(Bucket=bucket["label"])
        except (ClientError, EndpointConnectionError):
            return False
        return True

    until(is_there)
    s3.put_object(Bucket=bucket["label"], Key="greeting.txt", Body=b"hello")
    listed = s3.list_objects_v2(Bucket=bucket["label"])
    assert [each["Key"] for each in listed["Contents"]] == ["greeting.txt"]
    assert s3.get_object(Bucket=bucket["label"], Key="greeting.txt")["Body"].read() == b"hello"
    s3.delete_object(Bucket=bucket["label"], Key="greeting.txt")
    call("DELETE", f"/object-storage/buckets/{cluster['id']}/{bucket['label']}")
    call("DELETE", f"/object-storage/keys/{key['id']}")


run([objects])
