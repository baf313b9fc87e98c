"""What players type, and what everybody else perceives of it."""

from __future__ import annotations

import html
from typing import Any

import evennia
from django.test import Client
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.server.serversession import ServerSession
from evennia.utils import create
from evennia.utils.ansi import strip_ansi
from evennia.utils.test_resources import EvenniaTest
from evennia.utils.text2html import parse_html

from keepsake.contrib.evennia.wording import LONGEST_SPEECH, one_line, spoken, unquoted
from tests.world.built_world import BuiltWorld
from typeclasses.accounts import Account
from typeclasses.characters import Character
from typeclasses.exits import Exit
from typeclasses.objects import Object
from typeclasses.rooms import Room
from world.build import find

HOSTILE = [
    "$You() $conj(fall) $eval(1+1)",
    "{actor} {speech} {0} {you.account.password} {",
    "|r|/|[Rred|-|*",
    "\x1b[31mred\x1b[0m\r\nMira says, hello\x00\u2028\u202efed",
    '" | "" {}',
    "%s %(name)s ${x}",
    "<script>alert(1)</script>",
    "|lcquit|ltclick|le",
]


class Heard:
    """What one object perceives: its `msg` calls, as text and facts, in order."""

    def __init__(self, obj: Any) -> None:
        self.all: list[tuple[str, dict[str, Any], Any]] = []
        obj.msg = self._msg

    def _msg(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> None:
        line, facts = text if isinstance(text, tuple) else (text, {})
        self.all.append((str(line), facts, from_obj))

    @property
    def texts(self) -> list[str]:
        return [strip_ansi(text) for text, _, _ in self.all]

    @property
    def last(self) -> tuple[str, dict[str, Any], Any]:
        return self.all[-1]


class WithPeople(EvenniaTest):
    """Tom and Ada, players, in the same room, and Ruan two doors on."""

    account_typeclass = Account
    character_typeclass = Character
    object_typeclass = Object
    room_typeclass = Room
    exit_typeclass = Exit

    def setUp(self) -> None:
        super().setUp()
        self.tom, self.ada = self.char1, self.char2
        self.tom.key, self.ada.key = "Tom", "Ada"
        self.tom.permissions.clear()
        self.account.permissions.clear()
        self.account.permissions.add("Player")
        self.tom.permissions.add("Player")
        self.watcher = create.create_object(Character, key="Bystander", location=self.room1)
        self.heard = {obj.key: Heard(obj) for obj in (self.tom, self.ada, self.watcher)}

    def type(self, text: str, who: Any = None) -> None:
        """Let ``who`` type a line, through Evennia's real command handler."""
        (who or self.tom).execute_cmd(text)

    def texts(self, name: str) -> list[str]:
        return self.heard[name].texts

    def thing(self, name: str, where: Any = None, **attributes: str) -> Any:
        where = where or self.room1
        pairs = list(attributes.items())
        return create.create_object(Object, key=name, location=where, attributes=pairs)


class TestSpeech(WithPeople):
    def said(self, line: str, who: str = "Ada") -> tuple[str, dict[str, Any], Any]:
        """What that one perceives of a line."""
        self.type(line)
        return self.heard[who].last

    def refused(self, line: str) -> str:
        """Why nothing comes of a line, which nobody else perceives."""
        before = len(self.texts("Ada")), len(self.texts("Bystander"))
        text, facts, _ = self.said(line, "Tom")
        assert facts == {"type": "failure"}, line
        assert (len(self.texts("Ada")), len(self.texts("Bystander"))) == before, line
        return text

    def test_each_hears_what_is_meant_for_them(self):
        for line, heard in (
            ('"/shrug', 'Tom says, "/shrug"'),
            ('say "Hello there."', 'Tom says, "Hello there."'),
        ):
            assert self.said(line) == (heard, {"type": "say"}, self.tom)
        assert self.said(":'s hat drips.") == ("* Tom's hat drips.", {"type": "pose"}, self.tom)
        assert self.heard["Tom"].last == self.heard["Bystander"].last == self.heard["Ada"].last
        facts = {"type": "talk", "to": self.ada.id}
        assert self.said("talk ada Good?") == ('Tom says to you, "Good?"', facts, self.tom)
        assert self.heard["Tom"].last == ('You say to Ada, "Good?"', facts, self.tom)
        assert self.heard["Bystander"].last == ('Tom says to Ada, "Good?"', facts, self.tom)
        before = len(self.texts("Bystander"))
        facts = {"type": "whisper", "to": self.ada.id}
        expected = ('Tom whispers to you, "I found it."', facts, self.tom)
        assert self.said("whisper ada = I found it.") == expected
        assert self.texts("Tom")[-1] == 'You whisper to Ada, "I found it."'
        assert len(self.texts("Bystander")) == before

    def test_who_is_meant(self):
        for line in ("talk ad Hi", "talk to Ada, Hi", "talk ada=Hi", "talk ada: Hi", "ask Ada Hi"):
            assert self.said(line)[0] == 'Tom says to you, "Hi"', line
        there = 'Nobody called "Bob" is here. Here are Ada and Bystander.'
        assert self.refused("talk Bob hello") == there
        self.watcher.key = "Adam"
        assert "Which one do you mean: Ada or Adam?" in self.refused("talk ad hello")
        assert self.said("talk ada hello")[0] == 'Tom says to you, "hello"'
        self.ada.key = "Old Ada"
        assert self.said("talk old ada Hi")[0] == 'Tom says to you, "Hi"'
        assert self.refused("talk old ada") == "What do you want to say to Old Ada?"
        assert self.refused("talk").startswith("Talk to whom?")
        for line in ("say", "emote", "whisper", "whisper old ada ="):
            assert self.refused(line)
        self.tom.move_to(self.room2, quiet=True)
        assert self.refused("talk Ada hello") == 'Nobody called "Ada" is here. You are alone.'
        self.tom.location = None
        assert "nowhere" in self.refused("say Hello?")

    def test_hostile_and_endless_words(self):
        forms = ("say {}", "talk ada {}", "whisper ada = {}", "emote {}")
        for form in forms:
            for words in HOSTILE:
                raw, _, speaker = self.said(form.replace("{}", words))
                assert speaker == self.tom
                shown = strip_ansi(raw)
                expected = unquoted(one_line(words)).replace("|l", "| l")
                assert expected in shown, (form, words)
                assert shown.isprintable(), (form, words)
                assert strip_ansi(self.heard["Tom"].last[0]).isprintable()
            text = self.refused(form.format("x" * (LONGEST_SPEECH + 1)))
            assert "1,001 characters" in text
            assert "in parts" in text
        assert "x" * LONGEST_SPEECH in self.said("say " + "x" * LONGEST_SPEECH)[0]


class TestThings(WithPeople):
    def setUp(self) -> None:
        super().setUp()
        self.cup = self.thing("blue cup", desc="Chipped.")
        self.room1.db.details = {"hearth": "Peat, banked.", "copper kettle": "Dented."}

    def test_a_gift_says_to_whom_and_what_cannot_be_had_stays_where_it_is(self):
        self.type("get the cup")
        assert self.heard["Ada"].last == ("Tom picks up a blue cup.", {"type": "get"}, self.tom)
        self.type("give cup to ada")
        facts = {"type": "give", "to": self.ada.id}
        assert self.heard["Ada"].last == ("Tom gives you a blue cup.", facts, self.tom)
        assert self.heard["Bystander"].last[0] == "Tom gives a blue cup to Ada."
        self.type("get cup")
        assert self.cup.location == self.ada, "what others carry is out of reach"
        self.cup.move_to(self.room1, quiet=True)
        self.cup.locks.add("get:false()")
        before = len(self.texts("Ada"))
        for line, answer in (
            ("get cup", "You can't take that."),
            ("get moon", 'There is no "moon" here to take.'),
            ("get hearth", "That belongs here."),
            ("get ada", "You can't take that."),
            ("drop moon", 'You carry no "moon".'),
            ("give moon to ada", 'You carry no "moon".'),
            ("give cup", "Give what to whom?"),
            ("get", "Get what?"),
        ):
            self.type(line)
            text, facts, _ = self.heard["Tom"].last
            assert text.startswith(answer), line
            assert facts == {"type": "failure"}
        assert len(self.texts("Ada")) == before

    def test_what_is_seen_and_what_is_private(self):
        for line, answer in (
            ("look kettle", "Dented."),
            ("look me", "Tom"),
            ("look out", "Out leads to Room2."),
            ("look dragon", 'You see no "dragon" here.'),
        ):
            self.type(line)
            assert answer in self.texts("Tom")[-1], line
        self.type("describe Thin |/|rman\r\nMira says, hi")
        assert strip_ansi(self.tom.db.desc) == "Thin |/|rman Mira says, hi"
        self.type("look tom", self.ada)
        assert "Thin |/|rman" in self.texts("Ada")[-1]
        self.ada.db.profile = "Secretly afraid of water."
        self.cup.db.loved_by = ["Mira"]
        self.cup.db.secret = "hidden"
        self.thing("tin whistle", self.ada)
        closer, builders = len(self.texts("Tom")), f"ex #{self.ada.id}"
        forms = (
            "@examine ada",
            "examine ada/profile",
            "examine/account Ada",
            "examine *Ada",
            builders,
        )
        for line in ("examine cup", "examine ada", "examine here", *forms):
            self.type(line)
        shown = "\n".join(self.texts("Tom")[closer:])
        assert "somebody misses" in shown
        assert "Carries: a tin whistle." in shown
        assert "Ada is a visitor" in shown
        for private in ("afraid", "hidden", "Mira", "Typeclass", "Attributes"):
            assert private not in shown
        self.tom.permissions.add("Builder")
        self.account.permissions.add("Builder")
        self.type("@examine ada")
        assert "Typeclass" in "\n".join(self.texts("Tom"))

    def test_odd_names_find_nothing_and_break_nothing(self):
        for words in [*HOSTILE, "x" * 10_000, "#1", "*admin"]:
            for verb in ("look", "give"):
                self.type(f"{verb} {words}")
                assert len(self.texts("Tom")[-1]) < 2000


class TestMoving(WithPeople):
    def test_ways_to_walk(self):
        self.exit.key = "north"
        self.exit.aliases.add(["n", "quay"])
        for line in ("go n", "go to the quay", "go nor", "quay"):
            self.tom.move_to(self.room1, quiet=True)
            self.type(line)
            assert self.tom.location == self.room2, line
        self.tom.move_to(self.room1, quiet=True)
        for line in ("go up", "up", "u", "go"):
            self.type(line)
            text, facts, _ = self.heard["Tom"].last
            assert "Exits: north." in text, line
            assert facts == {"type": "failure"}
        self.exit.locks.add("traverse:false()")
        self.exit.db.err_traverse = "The gate is shut."
        self.type("go north")
        assert self.texts("Tom")[-1] == "The gate is shut."
        assert self.tom.location == self.room1


class TestCreate(BuiltWorld, EvenniaTest):
    """The login screen's `create`, through Evennia's real session and command handler."""

    account_typeclass = Account
    character_typeclass = Character
    room_typeclass = Room
    exit_typeclass = Exit
    object_typeclass = Object

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
        """Type a line at the login screen; everything that came back."""
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
        """Fill in the web site's registration form."""
        form = {"username": name, "password1": "tide-and-time", "password2": "tide-and-time"}
        return Client(headers={"host": "localhost"}).post("/auth/register", form)

    def test_a_newcomer_stands_in_the_inn_with_somebody_to_talk_to(self):
        assert "create <name> <password>" in self.type("look")
        for line in ("create", "create Piet", 'create "Piet x', "create a b c"):
            assert "create <name> <password>" in self.type(line)
        assert "too short" in self.type("create Piet abc")
        assert not AccountDB.objects.filter(username="Piet").exists()
        assert not self.newcomer.logged_in
        text = self.type("create Piet tide-and-time")
        account = AccountDB.objects.get(username="Piet")
        assert self.newcomer.logged_in
        assert self.newcomer.puppet.key == "Piet"
        assert self.newcomer.puppet.location == self.start
        assert list(account.characters) == [self.newcomer.puppet]
        assert "The Kettle" in text
        assert "talk mira Good evening." in text
        assert "tide-and-time" not in text
        assert "tide-and-time" not in account.password
        assert account.check_password("tide-and-time")

    def test_names_that_are_refused(self):
        Account.create(username="Piet", password="tide-and-time")
        for name, reason in (
            ("piet", "is taken"),
            ("MIRA", "is taken"),
            ("M\u00edra", "looks like 'Mira'"),
            ("Mlra", "looks like 'Mira'"),
            ("\u041c\u0456ra", "holds"),
            ("|rPiet", "holds"),
            ("../etc", "holds"),
            ("$You()", "holds"),
            ("{actor}", "holds"),
            ("admin", "commands read"),
            ("A", "has 1 char"),
            ("x" * 10_000, "characters"),
        ):
            before = AccountDB.objects.count(), ObjectDB.objects.count()
            text = self.type(f'create "{name}" tide-and-time')
            assert reason in text, (name, text)
            assert len(text) < 600
            assert (AccountDB.objects.count(), ObjectDB.objects.count()) == before
        account, errors = Account.create(username="Oswln", password="tide-and-time")
        assert account is None
        assert "taken" in errors[0]
        page = self.register("Mira")
        assert page.status_code == 200
        assert "is taken" in html.unescape(page.content.decode())
        assert not AccountDB.objects.filter(username="Mira").exists()

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


def test_link_codes_in_speech_make_no_link_for_the_web_client():
    page = parse_html(f'Tom says, "{spoken("|lcquit|ltclick me|le |luhttp://x|ltx|le")}"')
    assert "<a " not in page
    assert "lcquit" in page
