"""What Evennia calls once, after it has made its first account and room."""

from world.build import build_world


def at_initial_setup() -> None:
    """Build the world; Evennia's first room becomes the room where newcomers start."""
    build_world()
