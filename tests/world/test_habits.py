"""Commands that players of other MUDs are used to, and what they do here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evennia
import yaml
from evennia.utils import create
from evennia.utils.ansi import strip_ansi
from evennia.utils.text2html import parse_html

from keepsake.contrib.evennia.creation import create_agent
from keepsake.contrib.evennia.wording import LONGEST_SPEECH, spoken
from keepsake.language.perception import inner_quotes, one_line
from tests.sentences import table
from tests.world.agents_world import AgentsWorld

HOSTILE = table("hostile words")
HABITS = yaml.safe_load((Path(__file__).parents[1] / "data" / "habits.yaml").read_text())
EXPECTED = {"line", "as", "before", "shows", "ada", "mira", "not", "place", "carries", "lies"}


class TestHabits(AgentsWorld):
    """The inn with things and exits, the players Tom and Ada, and Mira."""

    def setUp(self) -> None:
        super().setUp()
        self.tom = self.char1
        self.inn = self.room1
        self.demote_to_player()
        self.account.username = "Tom"
        self.account.save()
        self.account.characters.add(self.tom)
        self.char2.location = None
        self.inn.db.details = {"hearth": "Peat, banked.", "bench": "Oak.", "bee": "It hums."}
        names = ("The Quay", "The Cellar", "The Loft")
        self.quay, self.cellar, self.loft = map(self.add_room, names)
        self.quay.db.desc = "Salt wind."
        self.add_exit("north", self.inn, self.quay).aliases.add(["n", "quay"])
        self.add_exit("down", self.inn, self.cellar).aliases.add("d")
        self.add_exit("up", self.inn, self.loft).aliases.add("u")
        self.ada = self.add_player(31, "Ada")
        self.mira.db.paused = True
        create_agent("Joss", location=self.quay, profile="You are Joss.").db.paused = True
        self.things = [
            self.add_thing("blue cup", desc="Chipped."),
            self.add_thing("old almanac", desc="Heron, two o'clock."),
            self.add_thing("bowl of soup", eat="Leeks."),
            self.add_thing("mug of beer", drink="Bread."),
        ]
        self.whistle = self.add_thing("tin whistle")
        self.honey = self.add_thing("jar of honey")
        self.obj1.location = None
        self.obj2.location = None
        self.heard = {who.key: self.capture(who, who.account) for who in (self.tom, self.ada)}
        self.reset()

    def add_thing(self, name: str, **attributes: str) -> Any:
        return create.create_object(
            "typeclasses.objects.Object",
            key=name,
            aliases=[name.rsplit(maxsplit=1)[-1]],
            location=self.inn,
            home=self.inn,
            attributes=list(attributes.items()),
        )

    def reset(self) -> None:
        """Put everything and everybody back."""
        for thing in self.things:
            thing.location = self.inn
        self.whistle.location = self.ada
        self.honey.location = self.mira
        for who in (self.tom, self.ada):
            who.location = self.inn
        for message in evennia.Msg.objects.all():
            message.delete()

    def type(self, line: str, who: Any = None) -> str:
        """Let Tom, or ``who``, type a line; return what they are shown."""
        who = who or self.tom
        heard = self.heard[who.key]
        heard.clear()
        who.execute_cmd(line)
        return strip_ansi("\n".join(heard))

    def newest(self) -> int:
        window = self.mind.memory.context().window
        return window[-1].number if window else 0

    def test_each_command_shows_and_does_what_is_expected(self):
        assert len(HABITS) >= 50
        faults = [fault for habit in HABITS for fault in self.faults_of(habit)]
        assert not faults, "\n".join(faults)

    def faults_of(self, habit: dict[str, Any]) -> list[str]:
        assert {"line"} < habit.keys() <= EXPECTED, habit
        self.reset()
        for line in habit.get("before", ()):
            self.type(line)
        for heard in self.heard.values():
            heard.clear()
        typist = self.ada if habit.get("as") == "ada" else self.tom
        before = self.newest()
        shown = self.type(habit["line"], typist)
        ada = strip_ansi("\n".join(self.heard["Ada"]))
        mira = "\n".join(m.line for m in self.mind.memory.context().window if m.number > before)
        found = []
        for name, text in (("shows", shown), ("ada", ada), ("mira", mira)):
            if name in habit and (habit[name] not in text or (text and not habit[name])):
                found.append(f"{name} {text!r}")
        if "not" in habit and (habit["not"] in ada + mira or habit["not"] in shown):
            found.append(f"{habit['not']!r} stands in {shown!r}{ada!r}{mira!r}")
        if "not available" in shown and not any(map(shown.count, ("Maybe", "talk", "To "))):
            found.append(repr(shown))
        if self.tom.location.key != habit.get("place", self.tom.location.key):
            found.append(f"in {self.tom.location.key}")
        carried = sorted(each.key for each in self.tom.contents)
        if carried != habit.get("carries", carried):
            found.append(f"carries {carried}")
        if not {*habit.get("lies", ())} <= {each.key for each in self.inn.contents}:
            found.append(f"there lie {self.inn.contents}")
        return [f"{habit['line']}: {each}" for each in found]

    def test_hostile_and_endless_words(self):
        for form in ("say {}", "talk ada {}", "whisper ada = {}", "emote {}"):
            for words in HOSTILE:
                self.heard["Ada"].clear()
                self.type(form.replace("{}", words))
                shown = inner_quotes(strip_ansi(self.heard["Ada"][-1]))
                assert inner_quotes(one_line(words)).replace("|l", "| l") in shown, (form, words)
                assert shown.isprintable(), (form, words)
            self.heard["Ada"].clear()
            assert "1,001 characters" in self.type(form.format("x" * (LONGEST_SPEECH + 1)))
            assert not self.heard["Ada"], form
        self.type("say " + "x" * LONGEST_SPEECH)
        assert "x" * LONGEST_SPEECH in self.heard["Ada"][-1]
        page = parse_html(f'Tom says, "{spoken("|lcquit|ltclick me|le |luhttp://x|ltx|le")}"')
        assert "<a " not in page
        assert "lcquit" in page
        for words in [*HOSTILE, "x" * 10_000, "#1", "*admin"]:
            for verb in ("look", "give"):
                assert len(self.type(f"{verb} {words}")) < 2000

    def test_what_is_private_is_not_seen(self):
        self.type("describe Thin |/|rman\r\nMira says, hi")
        assert strip_ansi(self.tom.db.desc) == "Thin |/|rman Mira says, hi"
        assert "Thin |/|rman" in self.type("look tom", self.ada)
        self.ada.db.profile = "Secretly afraid of water."
        self.things[0].db.secret = "hidden"
        lines = ("examine cup", "examine ada", "examine here", "@examine ada")
        builders = ("examine ada/profile", "examine/account Ada", f"ex #{self.ada.id}")
        shown = "\n".join(map(self.type, (*lines, *builders)))
        assert "Carries: a tin whistle." in shown
        for private in ("afraid", "hidden", "Typeclass", "Attributes"):
            assert private not in shown
        self.tom.permissions.add("Builder")
        self.account.permissions.add("Builder")
        assert "Typeclass" in self.type("@examine ada")
