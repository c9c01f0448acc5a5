"""How events, locks and urls name an instance."""

from roost.resources.events.records import Entity


def url_of(compute_id: int) -> str:
    return f"/v4/compute/instances/{compute_id}"


def entity_of(compute_id: int, label: str) -> Entity:
    return {"id": compute_id, "label": label, "type": "compute", "url": url_of(compute_id)}


def image_entity(image: str) -> Entity:
    return {"id": image, "label": image, "type": "image", "url": f"/v4/images/{image}"}


def resource_of(compute_id: int) -> str:
    """The name under which jobs of an instance run one at a time."""
    return f"compute:{compute_id}"
