"""New players' accounts: the login screen and the registration page."""

from __future__ import annotations

import html
from typing import Any

import evennia
from django.test import Client
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.server.serversession import ServerSession
from evennia.utils.ansi import strip_ansi
from evennia.utils.create import create_object

from tests.sentences import table
from tests.world.built_world import BuiltWorld, PeopleWorld
from typeclasses.accounts import Account
from world.build import find


class TestCreate(BuiltWorld, PeopleWorld):
    """The login screen's `create`, through Evennia's real session and command handler."""

    def setUp(self) -> None:
        super().setUp()
        self.start = find("room", "kettle")
        here = f"#{self.start.id}"
        self.enterContext(self.settings(START_LOCATION=here, DEFAULT_HOME=here))
        self.said: list[str] = []
        fresh = ServerSession()
        fresh.init_session("telnet", "10.0.0.7", evennia.SESSION_HANDLER)
        fresh.sessid = 77
        evennia.SESSION_HANDLER.portal_connect(fresh.get_sync_data())
        self.newcomer = evennia.SESSION_HANDLER.session_from_sessid(77)
        self.newcomer.data_out = self._data_out
        self.addCleanup(evennia.SESSION_HANDLER.pop, 77, None)

    def _data_out(self, **kwargs: Any) -> None:
        if text := kwargs.get("text"):
            self.said.append(strip_ansi(str(text[0] if isinstance(text, (tuple, list)) else text)))

    def type(self, line: str) -> str:
        """Type a line at the login screen; return everything that came back."""
        self.said.clear()
        service = evennia.EVENNIA_SERVER_SERVICE
        amp = type("Amp", (), {"send_AdminServer2Portal": lambda *a, **k: None})()
        evennia.EVENNIA_SERVER_SERVICE = type("Service", (), {"amp_protocol": amp})()
        try:
            evennia.commands.cmdhandler.cmdhandler(self.newcomer, line)
        finally:
            evennia.EVENNIA_SERVER_SERVICE = service
        return "\n".join(self.said)

    def register(self, name: str) -> Any:
        """Fill in the website's registration form; return the page."""
        form = {"username": name, "password1": "tide-and-time", "password2": "tide-and-time"}
        return Client(headers={"host": "localhost"}).post("/auth/register", form)

    def test_the_first_screen_says_how_to_create_a_player(self):
        assert "create <name> <password>" in self.type("look")
        for line in ("create", "create Piet", 'create "Piet x', "create a b c"):
            assert "create <name> <password>" in self.type(line)

    def test_a_short_password_is_refused(self):
        assert "too short" in self.type("create Piet abc")
        assert not AccountDB.objects.filter(username="Piet").exists()
        assert not self.newcomer.logged_in

    def test_a_new_player_starts_in_the_inn(self):
        text = self.type("create Piet tide-and-time")
        account = AccountDB.objects.get(username="Piet")
        assert self.newcomer.logged_in
        assert self.newcomer.puppet.key == "Piet"
        assert self.newcomer.puppet.location == self.start
        assert list(account.characters) == [self.newcomer.puppet]
        assert "The Kettle" in text
        assert "help start" in text

    def test_a_password_is_neither_shown_nor_stored_as_text(self):
        text = self.type("create Piet tide-and-time")
        account = AccountDB.objects.get(username="Piet")
        assert "tide-and-time" not in text
        assert "tide-and-time" not in account.password
        assert account.check_password("tide-and-time")

    def test_names_that_are_refused(self):
        Account.create(username="Piet", password="tide-and-time")
        for name, reason in table("names that players may not have"):
            before = AccountDB.objects.count(), ObjectDB.objects.count()
            text = self.type(f'create "{name}" tide-and-time')
            assert reason in text, (name, text)
            assert len(text) < 600
            assert (AccountDB.objects.count(), ObjectDB.objects.count()) == before

    def test_code_that_creates_accounts_gets_the_same_refusal(self):
        account, errors = Account.create(username="Oswln", password="tide-and-time")
        assert account is None
        assert "taken" in errors[0]

    def test_the_website_refuses_the_name_of_an_agent(self):
        page = self.register("Mira")
        assert page.status_code == 200
        assert "is taken" in html.unescape(page.content.decode())
        assert not AccountDB.objects.filter(username="Mira").exists()

    def test_the_name_of_a_character_whose_account_was_deleted_stays_taken(self):
        """Agents remember that player by the name and the id: no stranger may take it over."""
        account, _ = Account.create(username="Piet", password="tide-and-time")
        account.delete()
        assert ObjectDB.objects.filter(db_key="Piet").exists()
        assert "is taken" in self.type("create Piet tide-and-time")
        assert not AccountDB.objects.filter(username="Piet").exists()
        assert not self.newcomer.logged_in

    def test_an_account_without_a_character_gets_one_or_a_reason(self):
        account, _ = Account.create(username="Piet", password="tide-and-time")
        account.characters.all()[0].delete()
        assert "The Kettle" in self.type("connect Piet tide-and-time")
        assert self.newcomer.puppet.key == "Piet"
        assert self.newcomer.puppet.location == self.start

    def test_an_account_that_can_have_no_character_is_told_so(self):
        account, _ = Account.create(username="Piet", password="tide-and-time")
        account.characters.all()[0].delete()
        create_object("typeclasses.characters.Character", key="Piet")  # somebody else's
        text = self.type("connect Piet tide-and-time")
        assert "Your account has no character" in text
        assert "does not exist" not in text

    def test_the_web_site_gives_a_playable_character_and_cannot_change_it(self):
        assert self.register("Piet").status_code == 302
        account = Account.objects.get(username="Piet")
        (character,) = account.characters
        assert character.key == "Piet"
        assert character.location == self.start
        browser = Client(headers={"host": "localhost"})
        browser.force_login(account)
        browser.post(character.web_get_update_url(), {"db_key": "Mira", "desc": "x\ny"})
        browser.post(character.web_get_delete_url(), {"verify": "Piet"})
        browser.post("/characters/create/", {"db_key": "Mira", "desc": "second"})
        assert [one.key for one in account.characters] == ["Piet"]
        assert character.db.desc != "x\ny"
        self.type("connect Piet tide-and-time")
        assert self.newcomer.puppet == character
