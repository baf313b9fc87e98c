"""A new world of the lab, as old as its simulation: nothing in it depends on today's date."""

from __future__ import annotations

from datetime import UTC, datetime

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.server import initial_setup
from evennia.server.models import ServerConfig
from evennia.typeclasses.attributes import Attribute
from evennia.utils.dbserialize import from_pickle, to_pickle

from game.server.private_files import read_or_create
from keepsake.paths import places
from world.atlas import Atlas
from world.build import build_world

_REFERENCE = "__packed_dbobj__"
"""What Evennia writes into an attribute in place of an object."""


def begin_world(atlas: Atlas) -> None:
    """Build a world out of Evennia's empty tables; its services do not run meanwhile."""
    password = read_or_create(places().admin_password, nbytes=12)
    AccountDB.objects.create_superuser("admin", "admin@example.org", password)
    initial_setup.create_objects()
    build_world(atlas)
    # Nobody plays the admin here: its character would stand about, and be met by everybody.
    ObjectDB.objects.get(id=1).location = None


def finish_world(begins: datetime) -> None:
    """All who live in it are made: have it taken for complete, and made at that moment."""
    ServerConfig.objects.conf("last_initial_setup_step", "done")
    # Who somebody is depends on when they were made: here that is the beginning of time.
    _backdate(begins)


def _backdate(begins: datetime) -> None:
    """Have all objects and accounts been made at that moment.

    Evennia knows the objects that an attribute names by number and moment of making, and takes
    for deleted whose moment is another: so these attributes are written anew.
    """
    naming = [each for each in Attribute.objects.all() if _REFERENCE in repr(each.db_value)]
    named = [from_pickle(each.db_value) for each in naming]
    for model in (ObjectDB, AccountDB):
        model.objects.update(db_date_created=begins)
        for made in model.objects.all():  # Evennia keeps them in memory, with what they had
            made.db_date_created = begins.astimezone(UTC)
    for attribute, value in zip(naming, named, strict=True):
        attribute.db_value = to_pickle(value)
        attribute.save(update_fields=["db_value"])
