"""What Evennia calls once, after it has made its first account and room."""

from evennia.objects.models import ObjectDB

from world.build import build_world


def at_initial_setup() -> None:
    """Build the world; Evennia's first room becomes the room where newcomers start."""
    build_world()
    for admin in ObjectDB.objects.filter(id=1):  # nobody plays it yet
        admin.db.prelogout_location, admin.location = admin.location, None
