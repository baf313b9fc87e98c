"""What is built once for all tests of a class: Evennia's people and rooms, the village."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar
from unittest import mock

import evennia
from django.db import connection
from evennia.commands import cmdhandler
from evennia.typeclasses.models import TypedObject
from evennia.utils.idmapper.models import SharedMemoryModel
from evennia.utils.test_resources import EvenniaTest, EvenniaTestMixin

from typeclasses.accounts import Account
from typeclasses.characters import Character
from typeclasses.rooms import Room
from world.atlas import Atlas, read_atlas
from world.build import build_world
from world.deed.files import WorldDeed, read_deeds
from world.deed.progress import install

_MADE_BY = ("create_accounts", "create_rooms", "create_objs", "create_chars", "create_script")


class PeopleWorld(EvenniaTest):
    """Evennia's test case with people and things made once per class.

    A transaction undoes the changes of each test, and Evennia's caches are emptied.
    """

    account_typeclass = Account
    character_typeclass = Character
    room_typeclass = Room

    made: ClassVar[dict[str, tuple[Any, int]]] = {}

    @classmethod
    def setUpTestData(cls) -> None:
        super().setUpTestData()
        forget()
        world = cls()
        for make in _MADE_BY:
            getattr(world, make)()
        kept = {n: each for n, each in vars(world).items() if isinstance(each, TypedObject)}
        cls.made = {name: (each.__dbclass__, each.id) for name, each in kept.items()}

    def setUp(self) -> None:
        forget()
        self.addCleanup(forget)
        silent = mock.patch.multiple(
            evennia.SESSION_HANDLER, data_out=mock.Mock(), disconnect=mock.Mock()
        )
        self.enterContext(silent)
        for name, (model, number) in self.made.items():
            setattr(self, name, model.objects.get(id=number))
        self.setup_session()
        self.addCleanup(evennia.SESSION_HANDLER.pop, self.session.sessid, None)

    def tearDown(self) -> None:
        super(EvenniaTestMixin, self).tearDown()  # Evennia's would delete what goes anyway


class BuiltWorld:
    """A mixin: each test begins in the whole village, which is built once per process.

    A transaction undoes the changes of each test, and Evennia's caches are emptied.
    """

    @classmethod
    def setUpTestData(cls) -> None:
        super().setUpTestData()  # type: ignore[misc] # Django's, of the class that comes after
        who = tuple(number for _, number in getattr(cls, "made", {}).values())
        if who in _built:
            _insert(_built[who])
            forget()
        else:
            build_world(*shipped_world())
            if connection.vendor == "sqlite":
                _built[who] = _all_rows()

    def setUp(self) -> None:
        forget()
        self.addCleanup(forget)  # type: ignore[attr-defined] # likewise
        super().setUp()  # type: ignore[misc] # likewise
        install(shipped_world()[1])


@cache
def shipped_world() -> tuple[Atlas, Mapping[str, WorldDeed]]:
    """The files of ``world/``, read once."""
    atlas = read_atlas()
    return atlas, read_deeds(atlas)


_built: dict[tuple[int, ...], dict[str, list[str]]] = {}
"""Of a village that was built beside people of these numbers, all rows by table, as SQL."""


def _all_rows() -> dict[str, list[str]]:
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            columns = connection.introspection.get_table_description(cursor, table)
            values = " || ',' || ".join(f'quote("{each.name}")' for each in columns)
            cursor.execute(f'SELECT {values} FROM "{table}"')
            found[table] = [row for (row,) in cursor.fetchall()]
    return found


def _insert(rows: Mapping[str, list[str]]) -> None:
    """Have these rows in place of all others; keys are looked at when the transaction ends."""
    with connection.cursor() as cursor:
        for table, found in rows.items():
            cursor.execute(f'DELETE FROM "{table}"')
            for row in found:
                cursor.execute(f'INSERT INTO "{table}" VALUES ({row})')


def forget() -> None:
    """Have Evennia read every object from the database again, also those with notes in memory."""
    for model in _below(SharedMemoryModel):
        if not model._meta.abstract:
            model.flush_instance_cache(force=True)
    # It goes by the addresses of sets of commands, and new ones lie where forgotten ones lay.
    cmdhandler._CMDSET_MERGE_CACHE.clear()


def _below(model: type) -> Iterator[type]:
    for each in model.__subclasses__():
        yield each
        yield from _below(each)
