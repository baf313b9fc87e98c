"""Finding what matters now among all that an agent lived through."""
