"""Who asked for a plan: not who only carried what somebody else asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.books.plan import Plan
from keepsake.happening import ME, Deed, Manner, Person, Speech
from keepsake.web.agent.plan_causes import secret_of, with_causes
from keepsake.web.privacy import people
from keepsake.web.shapes import PlanRow

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
HILDE = Person("Hilde", "9-1")
NELL = Person("Nell", "1-1")
JOSS = Person("Joss", "2-1")
ASKED = "Would you ask Joss whether he will sing a hymn with me at eight?"
CARRIED = "From Hilde: will you sing a hymn with her at eight?"


def speech(speaker: Person, words: str, to: Person = ME) -> Speech:
    return Speech(speaker=speaker, words=words, to=(to,), manner=Manner.WHISPER)


class Remembered:
    """The archive of an agent in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.archive = Archive(folder / "archive")
        self.last = 0

    def add(self, memory: Memory) -> None:
        self.last += 1
        time = NOON + timedelta(minutes=self.last)
        self.archive.append(replace(memory, number=self.last, time=time).to_record())

    def plan(self, what: str, rests_on: int, number: int = 1) -> None:
        """Remember that a plan was made because of a memory."""
        plan = Deed(actor=ME, verb="plan")
        self.add(Memory(0, NOON, plan, rests_on=(rests_on,)))
        made = {"type": "plan", "id": number, "change": "made", "what": what, "state": "open"}
        self.archive.append({**made, "t": NOON.isoformat(), "memory": self.last})


def row(what: str, memory: int, whom: Person | None = None) -> PlanRow:
    return PlanRow.of(2, "Joss", Plan(what=what, number=1, since=memory, whom=whom))


def test_a_plan_names_who_asked_and_not_who_carried_it(tmp_path):
    nell = Remembered(tmp_path / "Nell")
    joss = Remembered(tmp_path / "Joss")
    nell.add(Memory(0, NOON, speech(HILDE, ASKED), happening="h1"))
    nell.plan("go to Joss and ask him whether he will sing a hymn with Hilde", 1)
    nell.add(Memory(0, NOON, speech(ME, CARRIED, JOSS), happening="h2", plan=1, rests_on=(1,)))
    joss.add(Memory(0, NOON, speech(NELL, CARRIED), happening="h2"))
    joss.plan("sing a hymn with Hilde", 1)
    agents = [(1, "Nell", nell.folder), (2, "Joss", joss.folder)]
    (found,) = with_causes([row("sing a hymn with Hilde", 2, HILDE)], joss.archive, agents)
    assert found.cause is not None
    assert (found.cause.source, found.sender, found.sender_id) == ("Nell", "Hilde", HILDE.id)


def test_a_secret_is_kept_for_who_told_it_and_not_for_who_carried_it(monkeypatch):
    monkeypatch.setattr(people, "name_of", {HILDE.id: "Hilde", NELL.id: "Nell"}.get)
    told = Memory(0, NOON, speech(HILDE, ASKED))
    aloud = Memory(0, NOON, Speech(speaker=HILDE, words=ASKED))
    assert secret_of("keeps it for Nell", told) == "keeps it for Hilde"
    assert secret_of("keeps it for Nell", aloud) == "keeps it for Nell"
    assert secret_of("keeps it for Nell", None) == "keeps it for Nell"
    assert secret_of("", told) == ""


def test_who_asks_on_their_own_account_is_who_asked(tmp_path):
    nell = Remembered(tmp_path / "Nell")
    joss = Remembered(tmp_path / "Joss")
    nell.add(Memory(0, NOON, speech(ME, CARRIED, JOSS), happening="h2"))
    joss.add(Memory(0, NOON, speech(NELL, CARRIED), happening="h2"))
    joss.plan("sing a hymn", 1)
    agents = [(1, "Nell", nell.folder), (2, "Joss", joss.folder)]
    (found,) = with_causes([row("sing a hymn", 2)], joss.archive, agents)
    assert found.cause is not None
    assert (found.cause.source, found.sender) == ("Nell", "")


def test_a_plan_with_nobody_rests_on_what_asked_for_it_and_not_on_the_line_after(tmp_path):
    joss = Remembered(tmp_path / "Joss")
    for line in ("Good evening.", "The soup is thin.", "Who has seen the tide?", "Fog again."):
        joss.add(Memory(0, NOON, speech(HILDE, line)))
    asked = "Carry the jar of heather honey to the ferry, and ask why the ferry whistles."
    joss.add(Memory(0, NOON, speech(NELL, asked)))
    joss.add(Memory(0, NOON, speech(HILDE, "Well? The bowl will not tell me.")))
    joss.plan("carry the jar of heather honey to the ferry and ask why it whistles", 6)
    what = "carry the jar of heather honey to the ferry and ask why it whistles"
    (found,) = with_causes([row(what, 7)], joss.archive, [])
    assert found.cause is not None
    assert found.cause.number == 5
