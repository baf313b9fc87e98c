"""Everything an agent lived through: the append-only archive, and which tier holds what."""
