"""Thirty lines, twelve of them whispered: no whisper reaches another player by the web.

Nor does it look like open talk to the player whose it is.
"""

from __future__ import annotations

import re

from keepsake.agent.surroundings.identity import identity_of
from tests.world.web_world import API, WebWorld

OPEN = [
    f"The {ordinal} spoon lies in the mill of Aldric."
    for ordinal in (
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
    )
]
WHISPERED = [
    f"Only you may know that {name} has the bell."
    for name in (
        "Zebedon",
        "Quillariel",
        "Yarumper",
        "Obadoskin",
        "Fennithwa",
        "Ivvedon",
        "Zebariel",
        "Quillumper",
        "Yaroskin",
        "Obadithwa",
        "Fennedon",
        "Ivvariel",
    )
]
_LINE = re.compile(r"<li(?P<whisper> class=\"whisper\")?>(?P<text>(?:(?!<li).)*?)</li>", re.DOTALL)
"""A line of the page; an agent's card is a list item too, and has lines in it."""


class TestWhispers(WebWorld):
    """Tom tells Mira thirty things; Pia, another player, stands by and hears the open ones."""

    def setUp(self):
        super().setUp()
        self.mira.db.paused = True
        self.pia = self.player_named("Pia")
        for number, words in enumerate(OPEN):
            self.char1.execute_cmd(f"say {words}")
            nth = number - len(OPEN) + len(WHISPERED)
            if nth >= 0:
                self.char1.execute_cmd(f"whisper Mira = {WHISPERED[nth]}")
            self.pass_time(1.0)
        self.settle()
        self.mind.read_edits()
        self.account.characters.add(self.char1)

    def player_named(self, name):
        """Return the account of a player whose character stands with Mira."""
        account = self.account_named(name, "Player")
        self.char2.key = name
        self.char2.location = self.char1.location
        account.characters.add(self.char2)
        return account

    def test_all_were_archived_as_they_were_said(self):
        heard = {
            each.words: each.confidants for each in self.mind.memory.memory.archive.read(1, 99)
        }
        assert all(heard[words] == {identity_of(self.char1)} for words in WHISPERED)
        assert all(heard[words] is None for words in OPEN)

    def test_mine_marks_each_whisper_and_nothing_else(self):
        page = self.client_of(self.account).get("/agents/mine/").content.decode()
        lines = {found["text"]: bool(found["whisper"]) for found in _LINE.finditer(page)}
        shown = {
            words: marked
            for text, marked in lines.items()
            for words in (*OPEN, *WHISPERED)
            if words in text
        }
        assert shown, "the newest lines are shown"
        assert all(marked == (words in WHISPERED) for words, marked in shown.items())
        assert any(shown.values())
        assert not all(shown.values())

    def test_another_player_sees_none_of_them_anywhere(self):
        pia = self.client_of(self.pia)
        number = self.mira.id
        addresses = [
            "/",
            "/agents/mine/",
            "/agents/",
            "/agents/live",
            "/agents/person?name=Tom",
            f"/agents/compare?a={number}&b={number}",
            f"/agents/{number}/",
            f"{API}/person?name=Tom",
            f"{API}/people",
            f"{API}/agents/{number}/book?of=people",
            f"{API}/agents/{number}/memories",
            f"{API}/agents/{number}/file?of=people&file=x.md",
            f"{API}/events",
            f"{API}/past",
        ]
        for words in WHISPERED:
            name = words.split()[5]
            addresses += [
                f"/agents/fact?q={name}",
                f"{API}/fact?q={name}",
                f"{API}/search?q={name}",
            ]
        for address in addresses:
            said = pia.get(address).content.decode()
            assert not [words for words in WHISPERED if words in said or words.split()[5] in said]

    def test_builders_see_each_whisper_marked(self):
        for words in WHISPERED:
            (telling,) = self.get("/fact", q=words.split()[5])["tellings"]
            assert telling["private"]
            assert [each["way"] for each in telling["hearings"]] == ["whispered"]
        (mira,) = self.get("/person", name="Tom")["agents"]
        private = {each["text"]: each["private"] for each in mira["lines"]}
        assert {words for words, hidden in private.items() if hidden} == set(WHISPERED)
        for words in OPEN:
            (telling, *_) = self.get("/fact", q=words.split()[1])["tellings"]
            assert not telling["private"]
