"""The prompt of a thought, and the command that is read from its answer."""
