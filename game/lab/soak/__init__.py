"""A world of its own, driven and broken on purpose for as long as one likes."""
