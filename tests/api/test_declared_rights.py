"""The rights that the specification gives each operation, written down a second time.

test_authorization.py proves that declarations are obeyed; this, that they are the right ones.
"""

import pytest

from roost.app.groups import GROUPS
from roost.core.identity import TokenKind, UserType
from roost.web.grants import AccountAccess, Anyone, Global, Grant, Listed, Read, Unrestricted, Write
from roost.web.registry import Registry

PUBLIC = ((), True, Anyone())
COMPUTE_LIST = (("computes:read_only",), False, Listed("compute"))
COMPUTE_READ = (("computes:read_only",), False, Read("compute"))
COMPUTE_WRITE = (("computes:read_write",), False, Write("compute"))
COMPUTE_ADD = (("computes:read_write",), False, Global("add_computes"))
VOLUME_LIST = (("volumes:read_only",), False, Listed("volume"))
VOLUME_READ = (("volumes:read_only",), False, Read("volume"))
VOLUME_WRITE = (("volumes:read_write",), False, Write("volume"))
CLONE = (("computes:read_write",), False, Write("compute", right="add_computes"))
NEW_VOLUME = (("volumes:read_write",), False, Global("add_volumes"))
COPY_VOLUME = (("volumes:read_write",), False, Read("volume", right="add_volumes"))
BOTH_WRITE = (("volumes:read_write", "computes:read_write"), False, Write("volume"))
DOMAIN_LIST = (("domains:read_only",), False, Listed("domain"))
DOMAIN_READ = (("domains:read_only",), False, Read("domain"))
DOMAIN_WRITE = (("domains:read_write",), False, Write("domain"))
ADD_DOMAINS = (("domains:read_write",), False, Global("add_domains"))
# The grant is that of the instance which has the address.
IPS_READ = (("ips:read_only",), False, Anyone())
IPS_WRITE = (("ips:read_write",), False, Anyone())
IPS_CHANGE = (("ips:read_write", "computes:read_write"), False, Anyone())
EVENTS = (("events:read_only",), False, Anyone())  # The events themselves are limited by grants.
# Receivers are told of everything.
WEBHOOK_READ = (("account:read_only", "events:read_only"), False, Unrestricted())
WEBHOOK_WRITE = (("account:read_write", "events:read_only"), False, Unrestricted())
ANY_TOKEN = ((), False, Anyone())
OWN_READ = (("account:read_only",), False, Anyone())
OWN_WRITE = (("account:read_write",), False, Anyone())
ACCOUNT_READ = (("account:read_only",), False, AccountAccess("read_only"))
ACCOUNT_WRITE = (("account:read_write",), False, AccountAccess("read_write"))
ALL_READ = (("account:read_only",), False, Unrestricted())
ALL_WRITE = (("account:read_write",), False, Unrestricted())
ALL_ANY_SCOPE = ((), False, Unrestricted())
CHILD_READ = (("child_account:read_only",), False, Global("child_account_access"))
CHILD_WRITE = (("child_account:read_write",), False, Global("child_account_access"))
IMAGES = (("images:read_only",), True, Anyone())
# Private ones that are not granted are not seen; public ones need no grant.
IMAGE_WRITE = (("images:read_write",), False, Write("image"))
UPLOAD_IMAGE = (("images:read_write",), False, Global("add_images"))
NEW_IMAGE = (("images:read_write", "computes:read_only"), False, Global("add_images"))
SCRIPT_READ = (("stackscripts:read_only",), True, Anyone())
SCRIPT_WRITE = (("stackscripts:read_write",), False, Write("stackscript"))
NEW_SCRIPT = (("stackscripts:read_write",), False, Global("add_stackscripts"))
DATABASE_LIST = (("databases:read_only",), False, Listed("database"))
DATABASE_READ = (("databases:read_only",), False, Read("database", of="instanceId"))
DATABASE_WRITE = (("databases:read_write",), False, Write("database", of="instanceId"))
DATABASE_ALL = (("databases:read_write",), False, Unrestricted())
# The list and the view of backups need the scope of writes (spec A auth 3 databases).
DATABASE_BACKUP_READ = (("databases:read_write",), False, Read("database", of="instanceId"))
NEW_DATABASE = (("databases:read_write",), False, Global("add_databases"))

OBJECTS_READ = (("object_storage:read_only",), False, AccountAccess("read_only"))
OBJECTS_WRITE = (("object_storage:read_write",), False, AccountAccess("read_write"))

MYSQL = "/databases/mysql/instances"
POSTGRESQL = "/databases/postgresql/instances"
BUCKET = "/object-storage/buckets/{clusterId}/{bucket}"
FIREWALL_READ = (("firewall:read_only",), False, Read("firewall"))
FIREWALL_WRITE = (("firewall:read_write",), False, Write("firewall"))

VPC = "/vpcs/{vpcId:int}"
VPC_READ = ((), False, Read("vpc"))
VPC_WRITE = (("vpc:read_write",), False, Write("vpc"))
FIREWALL = "/networking/firewalls/{firewallId:int}"
BALANCER = "/nodebalancers/{nodeBalancerId:int}"
BALANCED = f"{BALANCER}/configs/{{configId:int}}"
BALANCER_READ = (
    ("nodebalancers:read_only",),
    False,
    Read("nodebalancer", of="nodeBalancerId"),
)
BALANCER_WRITE = (
    ("nodebalancers:read_write",),
    False,
    Write("nodebalancer", of="nodeBalancerId"),
)
INTERFACES = "/compute/instances/{computeId:int}/configs/{configId:int}/interfaces"

RIGHTS: dict[str, tuple[tuple[str, ...], bool, Grant]] = {
    "GET /object-storage/clusters": PUBLIC,
    "GET /object-storage/clusters/{clusterId}": PUBLIC,
    "GET /object-storage/buckets": OBJECTS_READ,
    "POST /object-storage/buckets": OBJECTS_WRITE,
    "GET /object-storage/buckets/{clusterId}": OBJECTS_READ,
    f"GET {BUCKET}": OBJECTS_READ,
    f"DELETE {BUCKET}": OBJECTS_WRITE,
    f"GET {BUCKET}/access": OBJECTS_READ,
    f"POST {BUCKET}/access": OBJECTS_WRITE,
    f"PUT {BUCKET}/access": OBJECTS_WRITE,
    f"GET {BUCKET}/object-acl": OBJECTS_READ,
    f"PUT {BUCKET}/object-acl": OBJECTS_WRITE,
    f"GET {BUCKET}/object-list": OBJECTS_READ,
    f"POST {BUCKET}/object-url": OBJECTS_WRITE,
    f"GET {BUCKET}/ssl": OBJECTS_READ,
    f"POST {BUCKET}/ssl": OBJECTS_WRITE,
    f"DELETE {BUCKET}/ssl": OBJECTS_WRITE,
    "POST /object-storage/cancel": OBJECTS_WRITE,
    "GET /object-storage/keys": OBJECTS_READ,
    "POST /object-storage/keys": OBJECTS_WRITE,
    "GET /object-storage/keys/{keyId:int}": OBJECTS_READ,
    "PUT /object-storage/keys/{keyId:int}": OBJECTS_WRITE,
    "DELETE /object-storage/keys/{keyId:int}": OBJECTS_WRITE,
    "GET /object-storage/transfer": OBJECTS_READ,
    "GET /regions": PUBLIC,
    "GET /regions/availability": PUBLIC,
    "GET /regions/{regionId}": PUBLIC,
    "GET /regions/{regionId}/availability": PUBLIC,
    "GET /compute/types": PUBLIC,
    "GET /compute/types/{typeId}": PUBLIC,
    "GET /compute/kernels": PUBLIC,
    "GET /compute/kernels/{kernelId:path}": PUBLIC,
    "GET /images": IMAGES,
    "GET /images/{imageId:path}": IMAGES,
    "POST /images": NEW_IMAGE,
    "POST /images/upload": UPLOAD_IMAGE,
    "PUT /images/{imageId:path}": IMAGE_WRITE,
    "DELETE /images/{imageId:path}": IMAGE_WRITE,
    "GET /account/events": EVENTS,
    "GET /account/events/{eventId:int}": EVENTS,
    "GET /events/stream": EVENTS,
    "GET /account/webhooks": WEBHOOK_READ,
    "POST /account/webhooks": WEBHOOK_WRITE,
    "GET /account/webhooks/{webhookId:int}": WEBHOOK_READ,
    "PUT /account/webhooks/{webhookId:int}": WEBHOOK_WRITE,
    "DELETE /account/webhooks/{webhookId:int}": WEBHOOK_WRITE,
    "POST /account/webhooks/{webhookId:int}/rotate-secret": WEBHOOK_WRITE,
    "POST /account/webhooks/{webhookId:int}/replay": WEBHOOK_WRITE,
    "GET /account/webhooks/{webhookId:int}/deliveries": WEBHOOK_READ,
    "POST /account/events/{eventId:int}/read": EVENTS,
    "POST /account/events/{eventId:int}/seen": EVENTS,
    "GET /compute/instances": COMPUTE_LIST,
    "POST /compute/instances": COMPUTE_ADD,
    "GET /compute/instances/{computeId:int}": COMPUTE_READ,
    "PUT /compute/instances/{computeId:int}": COMPUTE_WRITE,
    "DELETE /compute/instances/{computeId:int}": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/boot": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/clone": CLONE,
    "POST /compute/instances/{computeId:int}/migrate": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/mutate": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/password": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/rebuild": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/rescue": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/resize": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/reboot": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/shutdown": COMPUTE_WRITE,
    "GET /compute/instances/{computeId:int}/backups": COMPUTE_READ,
    "POST /compute/instances/{computeId:int}/backups": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/backups/cancel": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/backups/enable": COMPUTE_WRITE,
    "GET /compute/instances/{computeId:int}/backups/{backupId:int}": COMPUTE_READ,
    "POST /compute/instances/{computeId:int}/backups/{backupId:int}/restore": COMPUTE_WRITE,
    "GET /compute/instances/{computeId:int}/configs": COMPUTE_READ,
    "POST /compute/instances/{computeId:int}/configs": COMPUTE_WRITE,
    "GET /compute/instances/{computeId:int}/configs/{configId:int}": COMPUTE_READ,
    "PUT /compute/instances/{computeId:int}/configs/{configId:int}": COMPUTE_WRITE,
    "DELETE /compute/instances/{computeId:int}/configs/{configId:int}": COMPUTE_WRITE,
    f"GET {INTERFACES}": COMPUTE_READ,
    f"POST {INTERFACES}": COMPUTE_WRITE,
    f"POST {INTERFACES}/order": COMPUTE_WRITE,
    f"GET {INTERFACES}/{{interfaceId:int}}": COMPUTE_READ,
    f"PUT {INTERFACES}/{{interfaceId:int}}": COMPUTE_WRITE,
    f"DELETE {INTERFACES}/{{interfaceId:int}}": COMPUTE_WRITE,
    "GET /compute/instances/{computeId:int}/disks": COMPUTE_READ,
    "POST /compute/instances/{computeId:int}/disks": COMPUTE_WRITE,
    "GET /compute/instances/{computeId:int}/disks/{diskId:int}": COMPUTE_READ,
    "PUT /compute/instances/{computeId:int}/disks/{diskId:int}": COMPUTE_WRITE,
    "DELETE /compute/instances/{computeId:int}/disks/{diskId:int}": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/disks/{diskId:int}/clone": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/disks/{diskId:int}/password": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/disks/{diskId:int}/resize": COMPUTE_WRITE,
    "GET /databases/engines": PUBLIC,
    "GET /databases/engines/{engineId:path}": PUBLIC,
    "GET /databases/types": PUBLIC,
    "GET /databases/types/{typeId}": PUBLIC,
    "GET /databases/instances": DATABASE_LIST,
    f"GET {MYSQL}": DATABASE_LIST,
    f"POST {MYSQL}": NEW_DATABASE,
    f"GET {MYSQL}/{{instanceId:int}}": DATABASE_READ,
    f"PUT {MYSQL}/{{instanceId:int}}": DATABASE_WRITE,
    f"DELETE {MYSQL}/{{instanceId:int}}": DATABASE_ALL,
    f"GET {MYSQL}/{{instanceId:int}}/credentials": DATABASE_READ,
    f"POST {MYSQL}/{{instanceId:int}}/credentials/reset": DATABASE_ALL,
    f"GET {MYSQL}/{{instanceId:int}}/ssl": DATABASE_READ,
    f"POST {MYSQL}/{{instanceId:int}}/patch": DATABASE_WRITE,
    f"GET {MYSQL}/{{instanceId:int}}/backups": DATABASE_BACKUP_READ,
    f"POST {MYSQL}/{{instanceId:int}}/backups": DATABASE_WRITE,
    f"GET {MYSQL}/{{instanceId:int}}/backups/{{backupId:int}}": DATABASE_BACKUP_READ,
    f"DELETE {MYSQL}/{{instanceId:int}}/backups/{{backupId:int}}": DATABASE_WRITE,
    f"POST {MYSQL}/{{instanceId:int}}/backups/{{backupId:int}}/restore": DATABASE_WRITE,
    f"GET {POSTGRESQL}": DATABASE_LIST,
    f"POST {POSTGRESQL}": NEW_DATABASE,
    f"GET {POSTGRESQL}/{{instanceId:int}}": DATABASE_READ,
    f"PUT {POSTGRESQL}/{{instanceId:int}}": DATABASE_WRITE,
    f"DELETE {POSTGRESQL}/{{instanceId:int}}": DATABASE_ALL,
    f"GET {POSTGRESQL}/{{instanceId:int}}/credentials": DATABASE_READ,
    f"POST {POSTGRESQL}/{{instanceId:int}}/credentials/reset": DATABASE_ALL,
    f"GET {POSTGRESQL}/{{instanceId:int}}/ssl": DATABASE_READ,
    f"POST {POSTGRESQL}/{{instanceId:int}}/patch": DATABASE_WRITE,
    f"GET {POSTGRESQL}/{{instanceId:int}}/backups": DATABASE_BACKUP_READ,
    f"POST {POSTGRESQL}/{{instanceId:int}}/backups": DATABASE_WRITE,
    f"GET {POSTGRESQL}/{{instanceId:int}}/backups/{{backupId:int}}": DATABASE_BACKUP_READ,
    f"DELETE {POSTGRESQL}/{{instanceId:int}}/backups/{{backupId:int}}": DATABASE_WRITE,
    f"POST {POSTGRESQL}/{{instanceId:int}}/backups/{{backupId:int}}/restore": DATABASE_WRITE,
    "GET /account": ACCOUNT_READ,
    "PUT /account": ACCOUNT_WRITE,
    "GET /account/availability": ACCOUNT_READ,
    "GET /account/availability/{regionId}": ACCOUNT_READ,
    "GET /account/betas": ALL_READ,
    "POST /account/betas": ALL_WRITE,
    "GET /account/betas/{betaId}": ALL_READ,
    "GET /account/child-accounts": CHILD_READ,
    "GET /account/child-accounts/{euuid}": CHILD_READ,
    "POST /account/child-accounts/{euuid}/token": CHILD_WRITE,
    "GET /account/logins": ALL_READ,
    "GET /account/logins/{loginId:int}": ALL_READ,
    "GET /account/maintenance": ((), False, Listed("compute")),
    "GET /account/notifications": ACCOUNT_READ,
    "GET /account/oauth-clients": ACCOUNT_READ,
    "POST /account/oauth-clients": ACCOUNT_WRITE,
    "GET /account/oauth-clients/{clientId}": ACCOUNT_READ,
    "PUT /account/oauth-clients/{clientId}": ACCOUNT_WRITE,
    "DELETE /account/oauth-clients/{clientId}": ACCOUNT_WRITE,
    "POST /account/oauth-clients/{clientId}/reset-secret": ACCOUNT_WRITE,
    "POST /account/oauth-clients/{clientId}/reset_secret": ACCOUNT_WRITE,
    "GET /account/oauth-clients/{clientId}/thumbnail": PUBLIC,
    "PUT /account/oauth-clients/{clientId}/thumbnail": ACCOUNT_WRITE,
    "GET /account/settings": ACCOUNT_READ,
    "PUT /account/settings": ACCOUNT_WRITE,
    "POST /account/settings/managed-enable": ACCOUNT_WRITE,
    "GET /account/transfer": ACCOUNT_READ,
    "GET /account/users": ALL_READ,
    "POST /account/users": ALL_WRITE,
    "GET /account/users/{username}": ALL_READ,
    "PUT /account/users/{username}": ALL_WRITE,
    "DELETE /account/users/{username}": ALL_WRITE,
    "GET /account/users/{username}/grants": ALL_READ,
    "PUT /account/users/{username}/grants": ALL_WRITE,
    "GET /betas": ALL_ANY_SCOPE,
    "GET /betas/{betaId}": ALL_ANY_SCOPE,
    "GET /support/tickets": ACCOUNT_READ,
    "POST /support/tickets": ACCOUNT_WRITE,
    "GET /support/tickets/{ticketId:int}": ACCOUNT_READ,
    "POST /support/tickets/{ticketId:int}/attachments": ACCOUNT_WRITE,
    "POST /support/tickets/{ticketId:int}/close": ACCOUNT_WRITE,
    "GET /support/tickets/{ticketId:int}/replies": ACCOUNT_READ,
    "POST /support/tickets/{ticketId:int}/replies": ACCOUNT_WRITE,
    "GET /tags": ALL_READ,
    "POST /tags": ALL_WRITE,
    "GET /tags/{tagLabel:path}": ALL_READ,
    "DELETE /tags/{tagLabel:path}": ALL_WRITE,
    "GET /domains": DOMAIN_LIST,
    "POST /domains": ADD_DOMAINS,
    "POST /domains/import": ADD_DOMAINS,
    "GET /domains/{domainId:int}": DOMAIN_READ,
    "PUT /domains/{domainId:int}": DOMAIN_WRITE,
    "DELETE /domains/{domainId:int}": DOMAIN_WRITE,
    "POST /domains/{domainId:int}/clone": DOMAIN_WRITE,
    "GET /domains/{domainId:int}/dnssec": DOMAIN_READ,
    "GET /domains/{domainId:int}/records": DOMAIN_READ,
    "POST /domains/{domainId:int}/records": DOMAIN_WRITE,
    "GET /domains/{domainId:int}/records/{recordId:int}": DOMAIN_READ,
    "PUT /domains/{domainId:int}/records/{recordId:int}": DOMAIN_WRITE,
    "DELETE /domains/{domainId:int}/records/{recordId:int}": DOMAIN_WRITE,
    "GET /domains/{domainId:int}/zone-file": DOMAIN_READ,
    "GET /networking/ips/{address}": IPS_READ,
    "PUT /networking/ips/{address}": IPS_WRITE,
    "GET /networking/ips": (("ips:read_only",), False, Listed("compute")),
    "POST /networking/ips": IPS_CHANGE,
    "POST /networking/ips/assign": IPS_CHANGE,
    "POST /networking/ipv4/assign": IPS_CHANGE,
    "POST /networking/ips/share": IPS_CHANGE,
    "POST /networking/ipv4/share": IPS_CHANGE,
    "GET /compute/instances/{computeId:int}/ips": COMPUTE_READ,
    "POST /compute/instances/{computeId:int}/ips": COMPUTE_WRITE,
    "GET /compute/instances/{computeId:int}/ips/{address}": COMPUTE_READ,
    "PUT /compute/instances/{computeId:int}/ips/{address}": COMPUTE_WRITE,
    "DELETE /compute/instances/{computeId:int}/ips/{address}": COMPUTE_WRITE,
    "POST /batch": ANY_TOKEN,
    "GET /profile": ANY_TOKEN,
    "PUT /profile": OWN_WRITE,
    "GET /profile/apps": OWN_READ,
    "GET /profile/apps/{appId:int}": OWN_READ,
    "DELETE /profile/apps/{appId:int}": OWN_WRITE,
    "GET /profile/devices": OWN_READ,
    "GET /profile/devices/{deviceId:int}": OWN_READ,
    "DELETE /profile/devices/{deviceId:int}": OWN_WRITE,
    "GET /profile/explain": ANY_TOKEN,
    "GET /profile/grants": ANY_TOKEN,
    "GET /profile/logins": OWN_READ,
    "GET /profile/logins/{loginId:int}": OWN_READ,
    "POST /profile/phone-number": OWN_WRITE,
    "DELETE /profile/phone-number": OWN_WRITE,
    "POST /profile/phone-number/verify": OWN_WRITE,
    "GET /profile/preferences": OWN_READ,
    "PUT /profile/preferences": OWN_WRITE,
    "GET /profile/security-questions": OWN_READ,
    "POST /profile/security-questions": OWN_WRITE,
    "GET /profile/sshkeys": OWN_READ,
    "POST /profile/sshkeys": OWN_WRITE,
    "GET /profile/sshkeys/{sshKeyId:int}": OWN_READ,
    "PUT /profile/sshkeys/{sshKeyId:int}": OWN_WRITE,
    "DELETE /profile/sshkeys/{sshKeyId:int}": OWN_WRITE,
    "POST /profile/tfa-disable": OWN_WRITE,
    "POST /profile/tfa-enable": OWN_WRITE,
    "POST /profile/tfa-enable-confirm": OWN_WRITE,
    "GET /profile/tokens": OWN_READ,
    "POST /profile/tokens": OWN_WRITE,
    "GET /profile/tokens/{tokenId:int}": OWN_READ,
    "PUT /profile/tokens/{tokenId:int}": OWN_WRITE,
    "DELETE /profile/tokens/{tokenId:int}": OWN_WRITE,
    "GET /account/payment-methods": ACCOUNT_READ,
    "POST /account/payment-methods": ACCOUNT_WRITE,
    "GET /account/payment-methods/{paymentMethodId:int}": ACCOUNT_READ,
    # As in the reference, the scope of reading is enough.
    "DELETE /account/payment-methods/{paymentMethodId:int}": (
        ("account:read_only",),
        False,
        AccountAccess("read_write"),
    ),
    "POST /account/payment-methods/{paymentMethodId:int}/make-default": ACCOUNT_WRITE,
    "POST /account/credit-card": ACCOUNT_WRITE,
    "POST /account/promo-codes": ALL_READ,
    "GET /account/payments": ACCOUNT_READ,
    "POST /account/payments": ACCOUNT_WRITE,
    "GET /account/payments/{paymentId:int}": ACCOUNT_READ,
    "POST /account/payments/altpay": (
        ("account:read_write",),
        False,
        AccountAccess("read_only"),
    ),
    "POST /account/payments/altpay/execute": ACCOUNT_WRITE,
    "POST /account/cancel": ALL_WRITE,
    "GET /account/entity-transfers": ALL_READ,
    "POST /account/entity-transfers": ALL_WRITE,
    "GET /account/entity-transfers/{token}": ALL_READ,
    "DELETE /account/entity-transfers/{token}": ALL_WRITE,
    "POST /account/entity-transfers/{token}/accept": ALL_WRITE,
    "GET /account/service-transfers": ALL_READ,
    "POST /account/service-transfers": ALL_WRITE,
    "GET /account/service-transfers/{token}": ALL_READ,
    "DELETE /account/service-transfers/{token}": ALL_WRITE,
    "POST /account/service-transfers/{token}/accept": ALL_WRITE,
    "GET /networking/ipv6/pools": IPS_READ,
    "GET /networking/ipv6/ranges": (("ips:read_only",), False, Listed("compute")),
    "POST /networking/ipv6/ranges": IPS_CHANGE,
    "GET /networking/ipv6/ranges/{range}": (("ips:read",), False, Anyone()),
    "DELETE /networking/ipv6/ranges/{range}": IPS_WRITE,
    "GET /account/estimate": ACCOUNT_READ,
    "GET /account/invoices": ACCOUNT_READ,
    "GET /account/invoices/{invoiceId:int}": ACCOUNT_READ,
    "GET /account/invoices/{invoiceId:int}/csv": ACCOUNT_READ,
    "GET /account/invoices/{invoiceId:int}/items": ACCOUNT_READ,
    "GET /account/invoices/{invoiceId:int}/pdf": ACCOUNT_READ,
    "GET /compute/instances/{computeId:int}/firewalls": COMPUTE_READ,
    "GET /vpcs": ((), False, Listed("vpc")),
    "POST /vpcs": (("vpc:read_write",), False, Global("add_vpcs")),
    "GET /vpcs/ips": (("ips:read_only",), False, Listed("vpc")),
    f"GET {VPC}": VPC_READ,
    f"PUT {VPC}": VPC_WRITE,
    f"DELETE {VPC}": VPC_WRITE,
    f"GET {VPC}/ips": (("ips:read_only",), False, Read("vpc")),
    f"GET {VPC}/subnets": VPC_READ,
    f"POST {VPC}/subnets": VPC_WRITE,
    f"GET {VPC}/subnets/{{vpcSubnetId:int}}": VPC_READ,
    f"PUT {VPC}/subnets/{{vpcSubnetId:int}}": VPC_WRITE,
    f"DELETE {VPC}/subnets/{{vpcSubnetId:int}}": VPC_WRITE,
    "GET /nodebalancers": (("nodebalancers:read_only",), False, Listed("nodebalancer")),
    "POST /nodebalancers": (
        ("nodebalancers:read_write",),
        False,
        Global("add_nodebalancers"),
    ),
    f"GET {BALANCER}": BALANCER_READ,
    f"PUT {BALANCER}": BALANCER_WRITE,
    f"DELETE {BALANCER}": BALANCER_WRITE,
    f"GET {BALANCER}/stats": BALANCER_READ,
    f"GET {BALANCER}/firewalls": BALANCER_READ,
    f"GET {BALANCER}/configs": BALANCER_READ,
    f"POST {BALANCER}/configs": BALANCER_WRITE,
    f"GET {BALANCED}": BALANCER_READ,
    f"PUT {BALANCED}": BALANCER_WRITE,
    f"DELETE {BALANCED}": BALANCER_WRITE,
    f"POST {BALANCED}/rebuild": (
        ("nodebalancers:read_write",),
        False,
        Write("nodebalancer", of="nodeBalancerId", right="add_nodebalancers"),
    ),
    f"GET {BALANCED}/nodes": BALANCER_READ,
    f"POST {BALANCED}/nodes": BALANCER_WRITE,
    # As the reference has it: the scope of writes, and a grant to read.
    f"GET {BALANCED}/nodes/{{nodeId:int}}": (
        ("nodebalancers:read_write",),
        False,
        Read("nodebalancer", of="nodeBalancerId"),
    ),
    f"PUT {BALANCED}/nodes/{{nodeId:int}}": BALANCER_WRITE,
    f"DELETE {BALANCED}/nodes/{{nodeId:int}}": BALANCER_WRITE,
    "GET /compute/instances/{computeId:int}/nodebalancers": COMPUTE_READ,
    "GET /networking/vlans": (("computes:read_only",), False, Anyone()),
    "GET /networking/firewalls": (("firewall:read_only",), False, Listed("firewall")),
    "POST /networking/firewalls": (("firewall:read_write",), False, Global("add_firewalls")),
    f"GET {FIREWALL}": FIREWALL_READ,
    f"PUT {FIREWALL}": FIREWALL_WRITE,
    f"DELETE {FIREWALL}": FIREWALL_WRITE,
    f"GET {FIREWALL}/rules": FIREWALL_READ,
    f"PUT {FIREWALL}/rules": FIREWALL_WRITE,
    f"GET {FIREWALL}/devices": FIREWALL_READ,
    f"POST {FIREWALL}/devices": FIREWALL_WRITE,
    f"GET {FIREWALL}/devices/{{deviceId:int}}": FIREWALL_READ,
    f"DELETE {FIREWALL}/devices/{{deviceId:int}}": FIREWALL_WRITE,
    "POST /networking/explain": (("firewall:read_only", "ips:read_only"), False, Anyone()),
    "GET /compute/stackscripts": SCRIPT_READ,
    "POST /compute/stackscripts": NEW_SCRIPT,
    "GET /compute/stackscripts/{stackscriptId:int}": SCRIPT_READ,
    "PUT /compute/stackscripts/{stackscriptId:int}": SCRIPT_WRITE,
    "DELETE /compute/stackscripts/{stackscriptId:int}": SCRIPT_WRITE,
    "GET /volumes": VOLUME_LIST,
    "POST /volumes": NEW_VOLUME,
    "GET /volumes/{volumeId:int}": VOLUME_READ,
    "PUT /volumes/{volumeId:int}": VOLUME_WRITE,
    "DELETE /volumes/{volumeId:int}": VOLUME_WRITE,
    "POST /volumes/{volumeId:int}/attach": BOTH_WRITE,
    "POST /volumes/{volumeId:int}/detach": BOTH_WRITE,
    "POST /volumes/{volumeId:int}/clone": COPY_VOLUME,
    "POST /volumes/{volumeId:int}/resize": VOLUME_WRITE,
    "GET /compute/instances/{computeId:int}/console": COMPUTE_READ,
    "POST /compute/instances/{computeId:int}/console": COMPUTE_WRITE,
    "GET /compute/instances/{computeId:int}/stats": COMPUTE_READ,
    "GET /compute/instances/{computeId:int}/stats/{year:int}/{month:int}": COMPUTE_READ,
    "GET /compute/instances/{computeId:int}/transfer": COMPUTE_READ,
    "GET /compute/instances/{computeId:int}/transfer/{year:int}/{month:int}": COMPUTE_READ,
    "GET /compute/instances/{computeId:int}/volumes": COMPUTE_READ,
}

ALL_BUT_PARENTS: tuple[UserType, ...] = ("default", "child", "proxy")
CLOSED: dict[str, tuple[UserType | TokenKind, ...]] = {
    "PUT /account": ("child",),
    "POST /account/cancel": ("child",),
    "POST /account/payment-methods": ("child",),
    "POST /account/payment-methods/{paymentMethodId:int}/make-default": ("child",),
    "POST /account/credit-card": ("child",),
    "POST /account/payments": ("child",),
    "POST /account/promo-codes": ("child",),
    "POST /account/payments/altpay": ("child",),
    "POST /account/payments/altpay/execute": ("child",),
    "GET /account/child-accounts": ALL_BUT_PARENTS,
    "GET /account/child-accounts/{euuid}": ALL_BUT_PARENTS,
    "POST /account/child-accounts/{euuid}/token": ALL_BUT_PARENTS,
    "POST /account/users": ("oauth", "proxy"),
    "PUT /account/users/{username}": ("proxy",),
    "DELETE /account/users/{username}": ("proxy",),
    "PUT /account/users/{username}/grants": ("proxy",),
    "POST /account/webhooks": ("proxy",),
    "PUT /account/webhooks/{webhookId:int}": ("proxy",),
    "DELETE /account/webhooks/{webhookId:int}": ("proxy",),
    "POST /account/webhooks/{webhookId:int}/rotate-secret": ("proxy",),
    "POST /account/webhooks/{webhookId:int}/replay": ("proxy",),
    "POST /account/oauth-clients": ("proxy",),
    "PUT /account/oauth-clients/{clientId}": ("proxy",),
    "DELETE /account/oauth-clients/{clientId}": ("proxy",),
    "POST /account/oauth-clients/{clientId}/reset-secret": ("proxy",),
    "POST /account/oauth-clients/{clientId}/reset_secret": ("proxy",),
    "PUT /account/oauth-clients/{clientId}/thumbnail": ("proxy",),
    "POST /account/service-transfers": ("proxy",),
    "POST /account/entity-transfers": ("proxy",),
    "POST /object-storage/keys": ("proxy",),
    "POST /profile/phone-number": ("proxy",),
    "DELETE /profile/phone-number": ("proxy",),
    "POST /profile/phone-number/verify": ("proxy",),
    "GET /profile/security-questions": ("proxy",),
    "POST /profile/security-questions": ("proxy",),
    "POST /profile/sshkeys": ("proxy",),
    "PUT /profile/sshkeys/{sshKeyId:int}": ("proxy",),
    "DELETE /profile/sshkeys/{sshKeyId:int}": ("proxy",),
    "POST /profile/tfa-disable": ("proxy", "oauth"),
    "POST /profile/tfa-enable": ("proxy", "oauth"),
    "POST /profile/tfa-enable-confirm": ("proxy", "oauth"),
    "POST /profile/tokens": ("proxy", "oauth"),
}


@pytest.mark.spec(
    "A auth 6",
    "B auth 2",
    "B auth 4",
    "B auth 5",
    "B compute 1",
    "A auth 2 attach",
    "A auth 3 volumes",
    "A auth 3 images",
    "A auth 3 images write",
    "A auth 2 images",
    "A auth 3 support",
)
def test_rights() -> None:
    declared = {
        f"{e.method} {e.path}": (e.scopes, e.public, e.grant) for e in Registry(GROUPS.endpoints)
    }
    missing = sorted(declared.keys() - RIGHTS.keys())
    assert not missing, f"write down what the specification says of {missing}"
    assert declared == RIGHTS


@pytest.mark.spec("B account 3", "B account 4")
def test_types_of_users() -> None:
    declared = {f"{e.method} {e.path}": e.refuses for e in Registry(GROUPS.endpoints) if e.refuses}
    assert declared == CLOSED
