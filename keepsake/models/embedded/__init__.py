"""The embedded model: its weights, its server process and the supervisor of it."""
