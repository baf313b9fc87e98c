"""Makes a new world as old as its simulation, so that nothing in it depends on today's date."""

from __future__ import annotations

from datetime import UTC, datetime

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.typeclasses.attributes import Attribute
from evennia.utils.dbserialize import from_pickle, to_pickle

_REFERENCE = "__packed_dbobj__"
"""What Evennia writes into an attribute in place of an object."""


def backdate(begins: datetime) -> None:
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
