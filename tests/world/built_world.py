"""Objects that are built once for many tests: Evennia's test people and rooms, the village."""

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

    After each test a transaction is rolled back and Evennia's caches are emptied.
    """

    account_typeclass = Account
    character_typeclass = Character
    room_typeclass = Room

    made: ClassVar[dict[str, tuple[Any, int]]] = {}

    @classmethod
    def setUpTestData(cls) -> None:
        super().setUpTestData()
        empty_caches()
        world = cls()
        for make in _MADE_BY:
            getattr(world, make)()
        kept = {n: each for n, each in vars(world).items() if isinstance(each, TypedObject)}
        cls.made = {name: (each.__dbclass__, each.id) for name, each in kept.items()}

    def setUp(self) -> None:
        empty_caches()
        self.addCleanup(empty_caches)
        silent = mock.patch.multiple(
            evennia.SESSION_HANDLER, data_out=mock.Mock(), disconnect=mock.Mock()
        )
        self.enterContext(silent)
        for name, (model, number) in self.made.items():
            setattr(self, name, model.objects.get(id=number))
        self.setup_session()
        self.addCleanup(evennia.SESSION_HANDLER.pop, self.session.sessid, None)

    def tearDown(self) -> None:
        super(EvenniaTestMixin, self).tearDown()  # Evennia's deletes objects, needlessly


class BuiltWorld:
    """A mixin: each test begins in the whole village, which is built once per process."""

    @classmethod
    def setUpTestData(cls) -> None:
        super().setUpTestData()  # type: ignore[misc]  # of Django's class, which comes later
        who = tuple(number for _, number in getattr(cls, "made", {}).values())
        if who in _built:
            _insert(_built[who])
            empty_caches()
        else:
            build_world(*shipped_world())
            if connection.vendor == "sqlite":
                _built[who] = _all_rows()

    def setUp(self) -> None:
        empty_caches()
        self.addCleanup(empty_caches)  # type: ignore[attr-defined]  # as above
        super().setUp()  # type: ignore[misc]  # as above
        install(shipped_world()[1])


@cache
def shipped_world() -> tuple[Atlas, Mapping[str, WorldDeed]]:
    """Return the files of ``world/``, read once."""
    atlas = read_atlas()
    return atlas, read_deeds(atlas)


_built: dict[tuple[int, ...], dict[str, list[str]]] = {}
"""The rows of a village by table, as SQL; by the numbers of the people that it was built beside."""


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
    """Replace all rows by these. Foreign keys are checked when the transaction ends."""
    with connection.cursor() as cursor:
        for table, found in rows.items():
            cursor.execute(f'DELETE FROM "{table}"')
            for row in found:
                cursor.execute(f'INSERT INTO "{table}" VALUES ({row})')


def empty_caches() -> None:
    """Empty Evennia's caches, also of objects with attributes in memory (``ndb``)."""
    for model in _below(SharedMemoryModel):
        if not model._meta.abstract:
            model.flush_instance_cache(force=True)
    # Its keys are addresses of command sets, which new sets may have again.
    cmdhandler._CMDSET_MERGE_CACHE.clear()


def _below(model: type) -> Iterator[type]:
    for each in model.__subclasses__():
        yield each
        yield from _below(each)
