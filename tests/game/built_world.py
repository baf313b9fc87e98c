"""What is built once for all tests of a class: Evennia's people and rooms, the village."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar
from unittest import mock

import evennia
from evennia.commands import cmdhandler
from evennia.typeclasses.models import TypedObject
from evennia.utils.idmapper.models import SharedMemoryModel
from evennia.utils.test_resources import EvenniaTest, EvenniaTestMixin

from typeclasses.accounts import Account
from typeclasses.characters import Character
from typeclasses.rooms import Room
from world.build import build_world

_MADE_BY = ("create_accounts", "create_rooms", "create_objs", "create_chars", "create_script")


class PeopleWorld(EvenniaTest):
    """Evennia's test case, whose people and things are made once a class.

    To make them takes longer than most tests. As in :class:`BuiltWorld`, the transaction takes
    back what a test changes, and what Evennia keeps of it in memory is forgotten.
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
    """Before a test case of Evennia's: each of its tests begins in the whole village.

    To build it takes seconds. What a test changes is taken back by the database's transaction;
    what Evennia keeps of it in memory is forgotten here, so that the next reads it anew.
    """

    @classmethod
    def setUpTestData(cls) -> None:
        super().setUpTestData()  # type: ignore[misc] # Django's, of the class that comes after
        build_world()

    def setUp(self) -> None:
        forget()
        self.addCleanup(forget)  # type: ignore[attr-defined] # likewise
        super().setUp()  # type: ignore[misc] # likewise


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
