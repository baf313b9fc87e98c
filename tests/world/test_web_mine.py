"""A player's own page: what agents have promised to this player, and what is kept from others."""

from __future__ import annotations

import re

from tests.world.web_world import WebWorld

_PROMISE = re.compile(r'<p class="(promised[^"]*)"><small>(.*?)</small>\s*(.*?)</p>', re.S)
_TAG = re.compile(r"<[^>]+>")


class TestMine(WebWorld):
    """Tom and Pia have a page each; Mira promises something to both."""

    def setUp(self) -> None:
        super().setUp()
        self.account.characters.add(self.char1)
        self.pia = self.add_player(77, "Pia")

    def promised(self, player) -> list[tuple[bool, str]]:
        """Return whether each promise on a player's page is private, and its line."""
        page = self.client_of(player.account).get("/agents/mine/").content.decode()
        return [
            ("whisper" in style, " ".join(_TAG.sub("", f"{head} {text}").split()))
            for style, head, text in _PROMISE.findall(page)
        ]

    def test_it_shows_what_was_promised_to_this_player_for_when_and_whether_it_was_kept(self):
        self.ask("A loaf?", "> say I'll bake one.\n> promise Tom, 2030-05-04 6:00: a loaf")
        self.ask("And a song?", "> say One day.\n> promise Tom: a song")
        self.ask("Eels?", "> say Surely.\n> promise Pia: eels", who=self.pia)
        assert self.promised(self.char1) == [
            (False, "Mira promised you, for Sat 4 May, 06:00: a loaf open"),
            (False, "Mira promised you: a song open"),
        ]
        assert self.promised(self.pia) == [(False, "Mira promised you: eels open")]
        song = next(x for x in self.mind.books.commitments.items if x.text == "a song")
        self.ask("Sing!", f"> say La la.\n> kept {song.number}")
        (_, kept) = self.promised(self.char1)[-1]
        assert re.fullmatch(r"Mira promised you: a song kept on \w{3} \d+ \w{3}", kept)
        assert len(self.promised(self.pia)) == 1

    def test_what_was_whispered_is_shown_to_who_whispered_it_alone(self):
        self.replies = ["> say Yes.\n> promise Pia: the seal in her sack, from Tom", "> wait"]
        self.char1.execute_cmd("whisper Mira = Put the seal into Pia's sack, will you?")
        self.pass_time(5)
        (promise,) = self.mind.books.commitments.items
        assert promise.who == "Pia"
        assert self.promised(self.pia) == []
        self.replies = ["> say Yes.\n> promise Tom: not a word of the seal", "> wait"]
        self.char1.execute_cmd("whisper Mira = And not a word of the seal!")
        self.pass_time(5)
        assert self.promised(self.char1) == [
            (True, "Mira promised you: not a word of the seal open")
        ]
        assert self.promised(self.pia) == []
