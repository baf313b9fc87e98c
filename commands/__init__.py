"""What people type: each command parses, calls the world, and formats."""
