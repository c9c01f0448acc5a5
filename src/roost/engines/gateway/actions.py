"""What calls do, by the names that policies of S3 have for it.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

Need: TypeAlias = Literal["look", "read", "write", "settle", "parts"]
"""What keys and ACLs give. look: location, uploads, tags. settle: change tags and settings. parts:
list those of an upload."""

OF_OBJECTS: Mapping[str, Need] = {
    "s3:GetObject": "read",
    "s3:GetObjectVersion": "read",
    "s3:GetObjectAttributes": "read",
    "s3:GetObjectAcl": "look",
    "s3:GetObjectTagging": "look",
    "s3:PutObject": "write",
    "s3:PutObjectTagging": "settle",
    "s3:DeleteObject": "write",
    "s3:DeleteObjectVersion": "write",
    "s3:DeleteObjectTagging": "settle",
    "s3:AbortMultipartUpload": "write",
    "s3:ListMultipartUploadParts": "parts",
}
OF_BUCKETS: Mapping[str, Need] = {
    "s3:ListBucket": "read",
    "s3:ListBucketVersions": "read",
    "s3:ListBucketMultipartUploads": "look",
    "s3:GetBucketLocation": "look",
}
LISTS = frozenset(OF_BUCKETS) - {"s3:GetBucketLocation"}
GRANTED: Mapping[str, Need] = {**OF_OBJECTS, **OF_BUCKETS}
"""All that a policy can allow."""
SETTINGS: Mapping[str, str] = {
    "acl": "BucketAcl",
    "policy": "BucketPolicy",
    "policyStatus": "BucketPolicyStatus",
    "cors": "BucketCORS",
    "lifecycle": "LifecycleConfiguration",
    "encryption": "EncryptionConfiguration",
    "ownershipControls": "BucketOwnershipControls",
    "publicAccessBlock": "BucketPublicAccessBlock",
    "object-lock": "BucketObjectLockConfiguration",
    "replication": "ReplicationConfiguration",
    "website": "BucketWebsite",
    "tagging": "BucketTagging",
    "versioning": "BucketVersioning",
    "versions": "BucketVersioning",
    "logging": "BucketLogging",
    "notification": "BucketNotification",
    "accelerate": "AccelerateConfiguration",
    "requestPayment": "BucketRequestPayment",
    "analytics": "AnalyticsConfiguration",
    "inventory": "InventoryConfiguration",
    "metrics": "MetricsConfiguration",
    "intelligent-tiering": "IntelligentTieringConfiguration",
    "metadataTable": "BucketMetadataTableConfiguration",
}
"""Settings of buckets, by the parameter of their calls."""
_OTHERS: Mapping[str, Need] = {
    **{f"s3:Get{each}": "look" for each in SETTINGS.values()},
    **{f"s3:Put{each}": "settle" for each in SETTINGS.values()},
    **{f"s3:{each}": "settle" for each in ("DeleteBucketPolicy", "DeleteBucketWebsite")},
    **{f"s3:{each}": "settle" for each in ("CreateBucket", "DeleteBucket")},
    **{f"s3:{each}": "settle" for each in ("PutObjectAcl", "PutObjectVersionAcl")},
    **{f"s3:Get{each}": "look" for each in ("ObjectRetention", "ObjectLegalHold")},
    **{f"s3:Put{each}": "settle" for each in ("ObjectRetention", "ObjectLegalHold")},
    "s3:GetObjectVersionAcl": "look",
    "s3:GetObjectVersionTagging": "look",
    "s3:PutObjectVersionTagging": "settle",
    "s3:DeleteObjectVersionTagging": "settle",
    "s3:BypassGovernanceRetention": "settle",
    "s3:RestoreObject": "settle",
}
NEEDS: Mapping[str, Need] = {**GRANTED, **_OTHERS}
"""Of all actions that are known; those which no policy can allow may still be denied."""
