"""What a game tells agents with `hear` and `happens`, and the examples of its page."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace
from typing import Any

from evennia.utils import create

from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.surroundings.identity import identity_of
from keepsake.contrib.evennia import happens, hear, person_of
from keepsake.happening import ME, Deed, Manner, Sight, Speech
from keepsake.paths import REPOSITORY
from tests.world import foreign_games
from tests.world.any_game import AGENT, AnyGame

PAGE = (REPOSITORY / "docs" / "your-own-game.md").read_text(encoding="utf-8")


class TestTelling(AnyGame):
    """`hear` and `happens`."""

    def test_an_own_say(self):
        nell = create.create_object(AGENT, "Nell", self.limbo)
        seen = self.capture(self.visitor)
        speech = Speech(
            speaker=person_of(self.visitor),
            words='Guten "Abend {to}',
            to=(person_of(self.rook),),
            shown="{speaker} sagt zu {to}: »{words}«",
        )
        hear(self.limbo, speech)
        assert seen == ['Ilse sagt zu Rook: »Guten "Abend {to}«']
        mine = self.newest()
        hers = self.newest(nell)
        assert mine.heard is not None
        assert (mine.heard.to, mine.words) == ((ME,), "Guten 'Abend {to}")
        assert mine.words in mine.text
        assert hers.heard is not None
        assert hers.heard.to == (person_of(self.rook),)
        assert mine.happening == hers.happening != ""
        assert self.events[-1].kind is ImpulseKind.ADDRESSED

    def test_a_murmur(self):
        speech = Speech(
            speaker=person_of(self.visitor),
            words="the key is under the mat",
            to=(person_of(self.rook),),
            manner=Manner.WHISPER,
        )
        hear(self.rook, speech)
        assert self.newest().confidants == {identity_of(self.visitor)}

    def test_words_to_some_people_are_known_to_them_alone(self):
        nell = create.create_object(AGENT, "Nell", self.limbo)
        hear([self.rook, nell], Speech(speaker=person_of(self.visitor), words="To the two of you."))
        assert self.newest().confidants == {identity_of(self.visitor), identity_of(nell)}
        assert self.newest(nell).confidants == {identity_of(self.visitor), identity_of(self.rook)}

    def test_a_channel_reaches_agents_elsewhere(self):
        self.visitor.location = self.cave
        said = Speech(
            speaker=person_of(self.visitor), words="Is Rook there?", manner=Manner.CHANNEL
        )
        seen = self.capture(self.visitor)
        hear([self.rook, self.visitor], said, players=False)
        assert seen == []
        assert self.newest().manner == Manner.CHANNEL
        assert self.newest().confidants is None
        assert self.events[-1].kind is ImpulseKind.NAMED

    def test_words_that_the_agent_cannot_read_are_not_known_to_it(self):
        said = Speech(speaker=person_of(self.visitor), words="The gold is in the well.")
        with happens(said):
            self.limbo.msg_contents("Ilse says, 'Grmbl fz.'", from_obj=self.visitor)
        assert self.newest().words == "Ilse says, 'Grmbl fz.'"

    def test_only_lines_of_the_actor_count(self):
        bram = self.add_visitor("Bram")
        with happens(Speech(speaker=person_of(self.visitor), words="Aye.")):
            self.limbo.msg_contents('Bram says, "Aye."', from_obj=bram)
        assert isinstance(self.newest().what, Sight)
        assert self.newest().source == "Bram"

    def test_a_deed(self):
        deed = Deed(actor=person_of(self.visitor), verb="ring", objects=("the bell",))
        with happens(deed, importance=4):
            self.limbo.msg_contents("Ilse läutet.", from_obj=self.visitor)
        memory = self.newest()
        assert memory.what == Deed(
            actor=self.ilse(), verb="ring", objects=("the bell",), shown="Ilse läutet."
        )
        assert memory.importance == 4


def example(name: str) -> str:
    """Return an example of the page, by the comment in its first line."""
    (found,) = re.findall(rf"^```python\n# {name}\n(.*?)^```", PAGE, re.M | re.S)
    return str(found)


@cache
def examples() -> dict[str, Any]:
    """Return the names that the examples define."""
    names: dict[str, Any] = {"__name__": "tests.example"}
    for name in ("say", "tell", "channel"):
        exec(example(name), names)
    return names


class TestThePage(AnyGame):
    """The examples of docs/your-own-game.md, unchanged."""

    def run_command(self, name: str, args: str) -> None:
        command = examples()[name]()
        command.caller = self.visitor
        command.args = args
        command.func()

    def test_the_say(self):
        seen = self.capture(self.visitor)
        self.run_command("CmdSagen", ' Das "alte" {me} Tor')
        assert seen == ['Ilse sagt: »Das "alte" {me} Tor«']
        assert self.newest().what == Speech(
            speaker=self.ilse(),
            words="Das 'alte' {me} Tor",
            shown="Ilse sagt: »Das 'alte' {me} Tor«",
        )
        assert self.events[-1].kind is ImpulseKind.ADDRESSED

    def test_a_subclass_of_the_games_own_say(self):
        own = foreign_games.CmdSpeak()
        own.caller = self.visitor
        own.args = " Who is there?"
        own.func()
        assert isinstance(self.newest().what, Sight), "nobody is known to speak"
        names: dict[str, Any] = {"__name__": "tests.example", "TheirSay": foreign_games.CmdSpeak}
        theirs, rest = example("subclass").split("\n", 1)
        assert theirs == "from commands.communication import CmdSay as TheirSay"
        exec(rest, names)
        command = names["CmdSay"]()
        command.caller = self.visitor
        command.args = " Rook, how deep is the river?"
        command.func()
        said = self.newest().heard
        assert said is not None
        assert (said.speaker, said.words) == (self.ilse(), "Rook, how deep is the river?")
        assert self.newest().confidants is None
        assert self.events[-1].kind is ImpulseKind.ADDRESSED

    def test_the_tell(self):
        bram = self.add_visitor("Bram")
        seen = self.capture(self.visitor)
        overheard = self.capture(bram)
        self.run_command("CmdMurmur", " Rook the key is under the mat")
        assert seen == ['Ilse whispers, "the key is under the mat"']
        assert overheard == []
        assert self.newest().words == "the key is under the mat"
        assert self.newest().confidants == {identity_of(self.visitor)}

    def test_the_channel(self):
        self.visitor.location = self.cave
        examples()["TownChannel"].at_post_msg(
            SimpleNamespace(key="Public"), "Rook, are you there?", senders=[self.visitor]
        )
        said = self.newest().heard
        assert said is not None
        assert (said.manner, said.words) == (Manner.CHANNEL, "Rook, are you there?")
        assert said.shown == "[Public] Ilse: Rook, are you there?"
        assert self.newest().confidants is None
