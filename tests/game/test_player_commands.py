"""What players type, and what everybody else perceives of it."""

from __future__ import annotations

import html
from typing import Any

import evennia
import pytest
from django.test import Client
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.server.serversession import ServerSession
from evennia.utils import create
from evennia.utils.ansi import strip_ansi
from evennia.utils.test_resources import EvenniaTest
from evennia.utils.text2html import parse_html

from commands.default_cmdsets import AccountCmdSet, CharacterCmdSet, UnloggedinCmdSet
from commands.unloggedin import name_and_password
from commands.wording import LONGEST_SPEECH, TooMuch, one_line, sought, spoken, unquoted
from tests.game.built_world import BuiltWorld
from typeclasses.accounts import Account
from typeclasses.agents import Agent
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
    def test_say(self):
        self.type("say Good evening.")
        assert self.heard["Tom"].last == ('You say, "Good evening."', {"type": "say"}, self.tom)
        assert self.heard["Ada"].last == ('Tom says, "Good evening."', {"type": "say"}, self.tom)

    def test_short_forms_need_no_blank(self):
        self.type('"Hello')
        self.type("'Hello again")
        self.type(":nods.")
        self.type(":'s hat drips.")
        self.type('"/shrug')
        assert self.texts("Ada") == [
            'Tom says, "Hello"',
            'Tom says, "Hello again"',
            "* Tom nods.",
            "* Tom's hat drips.",
            'Tom says, "/shrug"',
        ]

    def test_quotes_round_the_words_are_not_doubled(self):
        self.type('say "Hello there."')
        assert self.texts("Ada") == ['Tom says, "Hello there."']

    def test_talk_is_for_one_and_heard_by_all(self):
        self.type("talk ada What's good tonight?")
        facts = {"type": "talk", "to": self.ada.id}
        assert self.heard["Tom"].last == (
            'You say to Ada, "What\'s good tonight?"',
            facts,
            self.tom,
        )
        assert self.heard["Ada"].last == (
            'Tom says to you, "What\'s good tonight?"',
            facts,
            self.tom,
        )
        assert self.heard["Bystander"].last == (
            'Tom says to Ada, "What\'s good tonight?"',
            facts,
            self.tom,
        )

    def test_talk_understands_many_forms(self):
        for line in ("talk ad Hi", "talk to Ada, Hi", "talk ada=Hi", "talk ada: Hi", "ask Ada Hi"):
            self.type(line)
            assert self.heard["Ada"].last[0] == 'Tom says to you, "Hi"', line

    def test_talk_finds_names_of_several_words(self):
        self.ada.key = "Old Ada"
        self.type("talk old ada Hi")
        assert self.heard["Ada"].last[0] == 'Tom says to you, "Hi"'

    def test_talk_to_nobody_says_who_is_here(self):
        self.type("talk Bob hello")
        text, facts, _ = self.heard["Tom"].last
        assert text == 'Nobody called "Bob" is here. Here are Ada and Bystander.'
        assert facts == {"type": "failure"}
        assert self.texts("Ada") == []

    def test_talk_when_alone(self):
        self.tom.move_to(self.room2, quiet=True)
        self.type("talk Ada hello")
        assert self.texts("Tom")[-1] == 'Nobody called "Ada" is here. You are alone.'

    def test_talk_with_several_matches_asks_which(self):
        self.watcher.key = "Adam"
        self.type("talk ad hello")
        assert "Which one do you mean: Ada or Adam?" in self.texts("Tom")
        self.type("talk ada hello")
        assert self.texts("Ada") == ['Tom says to you, "hello"']

    def test_talk_without_words(self):
        self.type("talk ada")
        self.type("talk")
        assert self.texts("Tom")[0] == "What do you want to say to Ada?"
        assert self.texts("Tom")[1].startswith("Talk to whom?")
        assert self.texts("Ada") == []

    def test_whisper_is_for_one_alone(self):
        self.type("whisper ada = I found the page.")
        facts = {"type": "whisper", "to": self.ada.id}
        expected = ('Tom whispers to you, "I found the page."', facts, self.tom)
        assert self.heard["Ada"].last == expected
        assert self.texts("Tom") == ['You whisper to Ada, "I found the page."']
        assert self.texts("Bystander") == []

    def test_emote(self):
        self.type("emote warms his hands.")
        for name in ("Tom", "Ada"):
            assert self.heard[name].last == ("* Tom warms his hands.", {"type": "pose"}, self.tom)

    def test_nothing_to_say(self):
        for line in ("say", "emote", "whisper", "whisper ada ="):
            self.type(line)
        assert len(self.texts("Tom")) == 4
        assert self.texts("Ada") == []

    def test_hostile_words_arrive_as_they_were_typed_on_one_line(self):
        forms = ("say {}", "talk ada {}", "whisper ada = {}", "emote {}")
        for words in HOSTILE:
            for form in forms:
                self.type(form.replace("{}", words))
                raw, _, speaker = self.heard["Ada"].last
                assert speaker == self.tom
                shown = strip_ansi(raw)
                expected = unquoted(one_line(words)).replace("|l", "| l")
                assert expected in shown, (form, words)
                assert shown.isprintable(), (form, words)
                assert strip_ansi(self.heard["Tom"].last[0]).isprintable()

    def test_too_long_speech_is_refused(self):
        for form in ("say {}", "talk ada {}", "whisper ada = {}", "emote {}"):
            self.type(form.format("x" * (LONGEST_SPEECH + 1)))
            text, facts, _ = self.heard["Tom"].last
            assert "1,001 characters" in text
            assert "in parts" in text
            assert facts == {"type": "failure"}
        assert self.texts("Ada") == []
        self.type("say " + "x" * LONGEST_SPEECH)
        assert len(self.texts("Ada")) == 1

    def test_speech_from_nowhere(self):
        self.tom.location = None
        self.type("say Hello?")
        assert "nowhere" in self.texts("Tom")[-1]


class TestThings(WithPeople):
    def setUp(self) -> None:
        super().setUp()
        self.cup = self.thing("blue cup", desc="Chipped.")
        self.room1.db.details = {"hearth": "Peat, banked.", "copper kettle": "Dented."}

    def test_get_drop_give_are_seen_by_all(self):
        self.type("get the cup")
        assert self.cup.location == self.tom
        assert self.heard["Ada"].last == (
            "Tom picks up a blue cup.",
            {"type": "get"},
            self.tom,
        )
        self.type("drop cup")
        assert self.cup.location == self.room1
        assert self.heard["Ada"].last[0:2] == ("Tom puts down a blue cup.", {"type": "drop"})
        self.type("take blue cup")
        self.type("give cup to ada")
        facts = {"type": "give", "to": self.ada.id}
        assert self.cup.location == self.ada
        assert self.heard["Ada"].last == ("Tom gives you a blue cup.", facts, self.tom)
        assert self.heard["Bystander"].last[0] == "Tom gives a blue cup to Ada."
        assert self.texts("Tom")[-1] == "You give a blue cup to Ada."

    def test_what_cannot_be_had(self):
        self.cup.locks.add("get:false()")
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
        assert self.texts("Ada") == []

    def test_give_to_somebody_absent(self):
        self.cup.move_to(self.tom, quiet=True)
        self.type("give cup to bob")
        assert self.texts("Tom")[-1].startswith('Nobody called "bob" is here. Here are Ada')
        assert self.cup.location == self.tom

    def test_others_belongings_are_out_of_reach(self):
        self.cup.move_to(self.ada, quiet=True)
        self.type("get cup")
        assert self.cup.location == self.ada

    def test_inventory(self):
        self.type("i")
        self.cup.move_to(self.tom, quiet=True)
        self.thing("old almanac", self.tom)
        self.type("inventory")
        assert self.texts("Tom") == [
            "You carry nothing.",
            "You carry a blue cup and an old almanac.",
        ]

    def test_look_at_room_things_people_details_and_exits(self):
        for line, answer in (
            ("look", "Room"),
            ("l cup", "Chipped."),
            ("look at the hearth", "Peat, banked."),
            ("look kettle", "Dented."),
            ("look ada", "Ada"),
            ("look me", "Tom"),
            ("look out", "Out leads to Room2."),
            ("look dragon", 'You see no "dragon" here.'),
        ):
            self.type(line)
            assert answer in self.texts("Tom")[-1], line

    def test_examine_is_a_closer_look_and_gives_nothing_private_away(self):
        self.ada.db.profile = "Secretly afraid of water."
        self.cup.db.loved_by = ["Mira"]
        self.cup.db.secret = "hidden"
        self.thing("tin whistle", self.ada)
        self.type("examine cup")
        self.type("examine ada")
        self.type("examine here")
        shown = "\n".join(self.texts("Tom"))
        assert "somebody misses" in shown
        assert "Carries: a tin whistle." in shown
        assert "Ada is a visitor" in shown
        for private in ("afraid", "hidden", "Mira", "Typeclass", "#", "Attributes"):
            assert private not in shown

    def test_examine_ignores_builders_forms(self):
        self.ada.db.profile = "Secretly afraid of water."
        for line in (
            "examine ada/profile",
            "examine/account Ada",
            "examine *Ada",
            f"ex #{self.ada.id}",
        ):
            self.type(line)
        assert "afraid" not in "\n".join(self.texts("Tom"))

    def test_builders_get_the_full_view(self):
        self.tom.permissions.add("Builder")
        self.account.permissions.add("Builder")
        self.type("examine ada")
        assert "Typeclass" in "\n".join(self.texts("Tom"))

    def test_describe_is_cleaned(self):
        self.type("describe Thin |/|rman\r\nMira says, hi")
        assert strip_ansi(self.tom.db.desc) == "Thin |/|rman Mira says, hi"
        self.type("look tom", self.ada)
        assert "Thin |/|rman" in self.texts("Ada")[-1]

    def test_odd_names_find_nothing_and_break_nothing(self):
        for words in [*HOSTILE, "x" * 10_000, "#1", "*admin", "1-cup-2"]:
            for verb in ("look", "get", "drop", "examine", "go", "talk", "give"):
                self.type(f"{verb} {words}")
                assert all(len(text) < 2000 for text in self.texts("Tom"))


class TestMoving(WithPeople):
    def setUp(self) -> None:
        super().setUp()
        self.exit.key = "north"
        self.exit.aliases.add(["n", "quay"])

    def test_ways_to_walk(self):
        for line in (
            "go north",
            "go n",
            "north",
            "n",
            "go to the quay",
            "go quay",
            "go nor",
            "quay",
        ):
            self.tom.move_to(self.room1, quiet=True)
            self.type(line)
            assert self.tom.location == self.room2, line

    def test_no_such_way(self):
        for line in ("go up", "up", "u", "go"):
            self.type(line)
            text, facts, _ = self.heard["Tom"].last
            assert "Exits: north." in text, line
            assert facts == {"type": "failure"}
        assert self.tom.location == self.room1

    def test_a_locked_way(self):
        self.exit.locks.add("traverse:false()")
        self.exit.db.err_traverse = "The gate is shut."
        self.type("go north")
        assert self.tom.location == self.room1
        assert "The gate is shut." in self.texts("Tom")

    def test_a_dead_end(self):
        self.tom.move_to(self.room2, quiet=True)
        self.type("west")
        assert self.texts("Tom")[-1] == 'There is no exit "west" here. There is no way out.'


class TestWho(WithPeople):
    def test_players_and_agents(self):
        create.create_object(Agent, key="Mira", location=self.room2)
        self.type("who")
        text = self.texts("Tom")[-1]
        assert text.splitlines()[0] == "Playing now"
        assert "  Mira" in text
        assert "Room2" in text
        assert max(map(len, text.splitlines())) <= 78


def test_speech_is_one_line_and_shows_its_markup():
    assert spoken(" a\n\tb\x00\u202ec  |r ") == "a bc ||r"
    with pytest.raises(TooMuch, match="say it in parts"):
        spoken("x" * 1001)


def test_sought_drops_articles():
    assert [sought(text) for text in ("the cup", "An almanac", "my hat", "theatre")] == [
        "cup",
        "almanac",
        "hat",
        "theatre",
    ]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (" Ada c67jHL8p", ("Ada", "c67jHL8p")),
        (' "Old Tom" "pass word"', ("Old Tom", "pass word")),
        (" Ada it's#1\\x", ("Ada", "it's#1\\x")),
        (" Ada", None),
        ("", None),
        (" Ada b c", None),
        (' Ada "b', None),
        (' "" x', None),
    ],
)
def test_name_and_password(args, expected):
    assert name_and_password(args) == expected


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

    def test_a_newcomer_stands_in_the_inn_with_somebody_to_talk_to(self):
        text = self.type("create Piet tide-and-time")
        account = AccountDB.objects.get(username="Piet")
        assert self.newcomer.logged_in
        assert self.newcomer.puppet.key == "Piet"
        assert self.newcomer.puppet.location == self.start
        assert list(account.characters) == [self.newcomer.puppet]
        assert "The Kettle" in text
        assert "talk mira Good evening." in text

    def test_the_password_is_neither_shown_nor_kept(self):
        text = self.type("create Piet tide-and-time")
        account = AccountDB.objects.get(username="Piet")
        assert "tide-and-time" not in text
        assert "tide-and-time" not in account.password
        assert account.check_password("tide-and-time")

    def test_names_that_are_refused(self):
        Account.create(username="Piet", password="tide-and-time")
        for name, reason in (
            ("Piet", "is taken"),
            ("piet", "is taken"),
            ("Mira", "is taken"),
            ("MIRA", "is taken"),
            ("M\u00edra", "looks like 'Mira'"),
            ("Mlra", "looks like 'Mira'"),
            ("\u041c\u0456ra", "holds"),
            ("P\u0456et", "holds"),
            ("|rPiet", "holds"),
            ("../etc", "holds"),
            ("$You()", "holds"),
            ("{actor}", "holds"),
            ("admin", "commands read"),
            ("me", "commands read"),
            ("A", "has 1 char"),
            ("x" * 10_000, "characters"),
        ):
            before = AccountDB.objects.count(), ObjectDB.objects.count()
            text = self.type(f'create "{name}" tide-and-time')
            assert reason in text, (name, text)
            assert len(text) < 600
            assert (AccountDB.objects.count(), ObjectDB.objects.count()) == before

    def test_a_short_password_is_refused(self):
        text = self.type("create Piet abc")
        assert "too short" in text
        assert not AccountDB.objects.filter(username="Piet").exists()
        assert not self.newcomer.logged_in

    def test_usage(self):
        for line in ("create", "create Piet", 'create "Piet x', "create a b c"):
            assert "create <name> <password>" in self.type(line)

    def test_connect_comes_back_as_the_same_person(self):
        Account.create(username="Piet", password="tide-and-time")
        self.type("connect Piet tide-and-time")
        assert self.newcomer.puppet.key == "Piet"
        assert self.newcomer.puppet.location == self.start

    def test_link_codes_in_speech_make_no_link_for_the_web_client(self):
        page = parse_html(f'Tom says, "{spoken("|lcquit|ltclick me|le |luhttp://x|ltx|le")}"')
        assert "<a " not in page
        assert "lcquit" in page

    def test_the_welcome_screen_and_its_help(self):
        assert "create <name> <password>" in self.type("look")
        assert "connect <name> <password>" in self.type("help")

    def register(self, name: str) -> Any:
        """Fill in the web site's registration form."""
        form = {"username": name, "password1": "tide-and-time", "password2": "tide-and-time"}
        return Client(headers={"host": "localhost"}).post("/auth/register", form)

    def test_the_web_site_gives_a_playable_character(self):
        assert self.register("Piet").status_code == 302
        (character,) = AccountDB.objects.get(username="Piet").characters
        assert character.key == "Piet"
        assert character.location == self.start
        self.type("connect Piet tide-and-time")
        assert self.newcomer.puppet == character

    def test_the_web_site_refuses_an_agents_name(self):
        page = self.register("Mira")
        assert page.status_code == 200
        assert "is taken" in html.unescape(page.content.decode())
        assert not AccountDB.objects.filter(username="Mira").exists()

    def test_the_web_site_cannot_rename_or_delete_a_character(self):
        account, _ = Account.create(username="Piet", password="tide-and-time")
        (character,) = account.characters
        browser = Client(headers={"host": "localhost"})
        browser.force_login(account)
        browser.post(character.web_get_update_url(), {"db_key": "Mira", "desc": "x\ny"})
        browser.post(character.web_get_delete_url(), {"verify": "Piet"})
        browser.post("/characters/create/", {"db_key": "Mira", "desc": "second"})
        assert [one.key for one in account.characters] == ["Piet"]
        assert character.db.desc != "x\ny"

    def test_every_way_to_an_account_checks_the_name(self):
        for name in ("Mira", "Oswln"):
            account, errors = Account.create(username=name, password="tide-and-time")
            assert account is None
            assert "taken" in errors[0]


def keys(cmdset: Any) -> set[str]:
    return {command.key for command in cmdset()}


def test_which_commands_players_have():
    inside = keys(CharacterCmdSet)
    wanted = "look say talk whisper emote go get drop give examine inventory describe who help"
    assert set(wanted.split()) <= inside
    assert {"pose", "setdesc", "access", "time"}.isdisjoint(inside)
    assert {"charcreate", "chardelete", "irc2chan"}.isdisjoint(keys(AccountCmdSet))
    assert {"ooc", "ic", "quit", "password", "option"} <= keys(AccountCmdSet)
    assert {"connect", "create", "quit"} <= keys(UnloggedinCmdSet)


def test_every_player_command_explains_itself():
    from commands.default_cmdsets import PLAYER_COMMANDS  # noqa: PLC0415

    for command in PLAYER_COMMANDS:
        text = command().get_help(None, None)
        assert "Usage:" in text, command
        assert max(map(len, text.splitlines())) <= 78
        assert not text.splitlines()[2].startswith("    ")
