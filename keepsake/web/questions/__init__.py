"""What people want to know of agents: sentences with pickers, each a way to its answer."""
