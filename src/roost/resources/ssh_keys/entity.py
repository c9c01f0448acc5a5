"""How events name SSH keys."""

from roost.core.entities.kind import EntityKind

SSH_KEY = EntityKind(name="user_ssh_key", path="/profile/sshkeys/{id}")
