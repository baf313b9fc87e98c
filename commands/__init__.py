"""The commands that people type. Each parses its line, calls the world, and formats the result."""
