"""The village of `world/`, built once for all tests of a class."""

from __future__ import annotations

from collections.abc import Iterator

from evennia.utils.idmapper.models import SharedMemoryModel

from world.build import build_world


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


def _below(model: type) -> Iterator[type]:
    for each in model.__subclasses__():
        yield each
        yield from _below(each)
