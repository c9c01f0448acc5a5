"""What all resource groups share: their manifests, and the types of what they declare."""
