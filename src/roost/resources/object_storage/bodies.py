"""Request bodies of object storage (spec A object storage)."""

from collections.abc import Collection, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from roost.core.context import Context
from roost.resources.object_storage import certificate_rules, queries, rules
from roost.resources.object_storage.records import Acl, Permissions
from roost.web.bodies import Body
from roost.web.checks import catalog_of, checks_of
from roost.web.fields import Between, Length, Pattern, ShortText, refuse


class OwnBuckets:
    """Buckets of the account by `<cluster>/<label>`; finds their ids."""

    async def find(self, context: Context, ids: Collection[str]) -> Mapping[str, int]:
        return await queries.labels(context.db, context.account_id, ids)


OWN_BUCKETS = OwnBuckets()


MOST_BUCKETS = 100
"""That a limited key names."""


def _check_cluster(cluster: str, info: ValidationInfo) -> str:
    catalog = catalog_of(info)
    found = catalog.find_cluster(cluster)
    region = None if found is None else catalog.find_region(found.region)
    if region is None or "Object Storage" not in region.capabilities:
        raise refuse("cluster is not valid")
    return cluster


Cluster = Annotated[ShortText, AfterValidator(_check_cluster)]
BucketLabel = Annotated[
    str,
    Length(3, 63),
    Pattern(
        rules.LABEL_PATTERN,
        "Must only use lower-case letters, digits and dashes, with no dash at its ends",
    ),
]
NewBucketLabel = Annotated[BucketLabel, AfterValidator(rules.check_new_label)]
KeyLabel = Annotated[
    str, Length(0, 50), Pattern(r"[^\x00-\x1f\x7f]*", "Must not have control characters")
]
ObjectName = Annotated[str, Length(1, rules.MAX_NAME), AfterValidator(rules.check_name)]
UploadId = Annotated[
    str,
    Length(1, 255),
    Pattern(r"[A-Za-z0-9._~-]+", "Must be what S3 has answered when the upload began"),
]
AclName = Annotated[str, Length(1, rules.MAX_NAME), AfterValidator(rules.check_acl_name)]


class CreateBucket(Body):
    """POST /object-storage/buckets. The order of the fields is the order of their errors."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "photos", "cluster": "us-lake-1"}]}
    )

    label: NewBucketLabel
    """Its name: 3 to 63 lower-case letters, digits and dashes, which no other bucket of the cluster
    has."""
    cluster: Cluster
    """The cluster that stores it."""
    cors_enabled: bool = False
    """Whether web pages of any origin may use it."""
    acl: Acl = "private"
    """What others than the keys of the account may do with its objects."""


class ChangeAccess(Body):
    """POST and PUT .../access; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"acl": "public-read"}]})

    acl: Literal[Acl, "custom"] | None = None
    """What others than the keys of the account may do with its objects. `custom` is what a bucket
    would be shown with that S3 clients have set an ACL of; as none can, it is refused."""
    cors_enabled: bool | None = None
    """Whether web pages of any origin may use it."""

    @field_validator("acl")
    @classmethod
    def _check_acl(cls, value: str | None) -> str | None:
        return check_settable(value)


def check_settable(acl: str | None) -> str | None:
    if acl == "custom":
        raise refuse("The ACL is not custom, and cannot be made so")
    return acl


class DeleteBucket(Body):
    """DELETE /object-storage/buckets/{clusterId}/{bucket}: nothing needs to be said."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})


class UploadCertificate(Body):
    """POST .../ssl; line breaks are `\\n`, as in every JSON text."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "certificate": "-----BEGIN CERTIFICATE-----\nMII...",
                    "private_key": "-----BEGIN PRIVATE KEY-----\nMII...",
                }
            ]
        }
    )

    certificate: Annotated[str, Length(1, certificate_rules.MAX_CERTIFICATE)]
    """In PEM, followed by those of its issuers; for the bucket's `hostname`."""
    private_key: Annotated[str, Length(1, certificate_rules.MAX_KEY)]
    """In PEM, without a password: RSA of 2048 to 8192 bits, or EC. It is kept sealed, and never
    shown."""


class UpdateObjectAcl(Body):
    """PUT .../object-acl."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"acl": "public-read", "name": "cat.jpg"}]}
    )

    acl: Literal[Acl, "custom"]
    """What others than the keys of the account may do with it; not `custom`."""
    name: AclName
    """The object."""

    @field_validator("acl")
    @classmethod
    def _check_acl(cls, value: str) -> str | None:
        return check_settable(value)


class CreateObjectUrl(Body):
    """POST .../object-url."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"method": "GET", "name": "cat.jpg"},
                {"method": "PUT", "name": "cat.jpg", "content_type": "image/jpeg"},
                {"method": "PUT", "name": "film.mp4", "upload_id": "5ca1ab1e", "part_number": 1},
            ]
        }
    )

    method: Literal["GET", "PUT", "DELETE", "POST"] = "GET"
    """What the URL is for. `POST` begins an upload by parts, or completes that of `upload_id`."""
    name: ObjectName
    """The object, which need not exist."""
    upload_id: UploadId | None = None
    """The upload by parts, as S3 has named it when it began, that the URL puts a part of (`PUT`),
    completes (`POST`) or aborts (`DELETE`)."""
    part_number: Annotated[int, Between(1, 10_000)] | None = Field(
        default=None, validate_default=True
    )
    """Which part of it is put."""
    content_type: (
        Annotated[
            str,
            Length(1, 255),
            Pattern(r"[!-~](?:[ -~]*[!-~])?", "Must be visible ASCII characters"),
        ]
        | None
    ) = Field(default=None, validate_default=True)
    """What must be sent as Content-Type with it. Required for `PUT` of an object, and for `POST`
    that begins an upload."""
    expires_in: Annotated[int, Between(360, 86400)] = 3600
    """Seconds."""

    @field_validator("upload_id")
    @classmethod
    def _check_upload(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("method") == "GET":
            raise refuse("Is for PUT, POST and DELETE only")
        return value

    @field_validator("part_number")
    @classmethod
    def _check_part(cls, value: int | None, info: ValidationInfo) -> int | None:
        if not {"method", "upload_id"} <= info.data.keys():
            return value
        puts_part = info.data["method"] == "PUT" and info.data["upload_id"] is not None
        if puts_part and value is None:
            raise refuse("part_number is required")
        if value is not None and not puts_part:
            raise refuse("Is for PUT with an upload_id only")
        return value

    @field_validator("content_type")
    @classmethod
    def _check_type(cls, value: str | None, info: ValidationInfo) -> str | None:
        of_upload = info.data.get("upload_id", "") is not None
        if value is None and info.data.get("method") in ("PUT", "POST") and not of_upload:
            raise refuse("content_type is required")
        return value


class BucketAccess(Body):
    """What a limited key may do with one bucket."""

    cluster: Cluster
    """The cluster that stores the bucket."""
    bucket_name: BucketLabel
    """The label of a bucket of the account."""
    permissions: Permissions
    """Whether the key may write too."""

    @property
    def path(self) -> str:
        return rules.bucket_path(self.cluster, self.bucket_name)

    @field_validator("bucket_name")
    @classmethod
    def _check_bucket(cls, value: str, info: ValidationInfo) -> str:
        if "cluster" in info.data:
            path = rules.bucket_path(info.data["cluster"], value)
            found = checks_of(info).references.find(OWN_BUCKETS, (path,))
            if found is not None and path not in found:
                raise refuse("bucket_name is not valid")
        return value


class CreateKey(Body):
    """POST /object-storage/keys."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"label": "backups"},
                {
                    "label": "web",
                    "bucket_access": [
                        {
                            "cluster": "us-lake-1",
                            "bucket_name": "photos",
                            "permissions": "read_only",
                        }
                    ],
                },
            ]
        }
    )

    label: KeyLabel = ""
    """What it is for; at most 50 characters."""
    bucket_access: Annotated[list[BucketAccess], Length(0, MOST_BUCKETS)] | None = None
    """Buckets that it may use, and no others. Omitted: all of the account; `[]`: none."""

    @field_validator("bucket_access")
    @classmethod
    def _check_access(cls, value: list[BucketAccess] | None) -> list[BucketAccess] | None:
        if value is not None and len({each.path for each in value}) < len(value):
            raise refuse("Must name each bucket once")
        return value


class UpdateKey(Body):
    """PUT /object-storage/keys/{keyId}."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "backups"}]})

    label: KeyLabel | None = None
    """What it is for."""
