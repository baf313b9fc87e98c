"""The admin's body: a login brings the admin into it, whatever an earlier version has lost."""

from __future__ import annotations

from unittest import mock

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB

from game.server import readiness
from tests.game.built_world import PeopleWorld


class TestTheAdminsBody(PeopleWorld):
    """With accounts and objects in place of the first ones, which Evennia makes for the admin."""

    def setUp(self) -> None:
        super().setUp()
        for model, first in ((AccountDB, self.account), (ObjectDB, self.char1)):
            found = mock.Mock(**{"filter.return_value.first.return_value": first})
            patch = mock.patch.object(readiness, model.__name__, mock.Mock(objects=found))
            patch.start()
            self.addCleanup(patch.stop)

    def room(self) -> str | None:
        told: str | None = readiness.report({})["admin_room"]
        return told

    def test_one_that_was_lost_comes_back_and_the_trial_login_has_it(self):
        self.account.attributes.remove("_last_puppet")
        self.account.attributes.remove("_playable_characters")
        assert self.room() == self.char1.location.key
        assert self.account.db._last_puppet == self.char1
        assert self.char1 in self.account.characters.all()

    def test_another_one_that_the_admin_plays_stays(self):
        self.account.db._last_puppet = self.char2
        assert self.room() == self.char2.location.key
        assert self.account.db._last_puppet == self.char2

    def test_there_is_none_where_it_was_deleted(self):
        self.account.attributes.remove("_last_puppet")
        readiness.ObjectDB.objects.filter.return_value.first.return_value = None
        assert self.room() is None
        assert not readiness.prepare_trial({})
