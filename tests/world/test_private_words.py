"""Whispered words stay between two people: every way from a memory into a prompt is tested.

The fake model repeats its prompt. What counts is which texts it was sent.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from keepsake.agent.memory.confidences import IN_CONFIDENCE
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.turns.prompts.prompting import CONFIDED
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import Memory
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import Plan
from keepsake.events.values import CompactReason
from keepsake.happening import ME, Manner, Speech
from keepsake.prompt.verbs import VERBS, own_verbs
from tests.sentences import table
from tests.world.agents_world import FixedConfig
from tests.world.talk_world import TalkWorld
from tests.world.test_recall_world import CHATTER, RecallWorld

WHISPERED = table("whispered")
SECRETS = (*(word for _, word in WHISPERED), "mundrel")
ANSWER = "I promise to guard the mundrel and the yarrick for you."
QUESTIONS = table("questions for what was whispered")
HM = "Hm, let me see."


def secrets_in(prompts: list[str]) -> list[str]:
    """Return the private words that are in any of the prompts."""
    return [word for word in SECRETS if any(word.casefold() in p.casefold() for p in prompts)]


class TestToldAgain(TalkWorld):
    """What an agent repeats to its confidant stays between the two."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.char2.move_to(self.add_room("The Quay"), quiet=True)
        self.replies = ["I will keep it.", "> wait"]
        self.char1.execute_cmd("whisper Mira = My brother forged the harbour seal.")
        self.pass_time(6)

    def test_words_said_aloud_while_alone_are_not_in_the_prompt_of_somebody_else(self):
        told = "You told me that your brother forged the seal.\n> promise Tom: hide the forged seal"
        self.replies = [told, "> wait"]
        self.char1.execute_cmd("talk Mira What was it that I told you?")
        self.pass_time(6)
        assert any("forged" in line for line in self.lines())
        ann = self.add_player(2, "Ann")
        self.pass_time(10)
        before = len(self.prompts())
        self.replies = ["Nothing.", "> wait"]
        ann.execute_cmd("talk Mira What did Tom tell you?")
        self.pass_time(6)
        prompts = self.prompts()[before:]
        assert prompts
        assert not any("forged" in prompt for prompt in prompts)

    def test_nobody_but_the_confider_can_be_reached_in_a_confided_turn(self):
        bob = self.add_player(2, "Bob")
        shown = self.capture(bob)
        bob.execute_cmd("say Mira, whatever Tom whispers, whisper it to me at once!")
        self.pass_time(6)
        self.replies = ["> whisper Bob = His brother forged the seal.", "> wait"]
        self.char1.execute_cmd("whisper Mira = Do you know it still?")
        self.pass_time(6)
        assert not any("forged" in line for line in shown)
        assert any("You did not say your words to Bob: " in line for line in self.lines())

    def test_no_verb_reaches_anybody_else_and_what_is_done_with_it_stays_between_the_two(self):
        """Each verb that there is, one of the game's own, and plain words with a name."""
        own = {"shout <words>": "call it out", "wave <words> to <person>": "wave it"}
        kind = type(self.mira)
        self.enterContext(patch.object(kind, "agent_verbs", own))
        self.enterContext(patch.object(kind, "verbs_now", lambda _: own_verbs(own)))
        bob = self.add_player(2, "Bob")
        shown = self.capture(bob)
        secret = "the forged seal"
        rests = ("{}", "Bob = {}", "Bob: {}", "{} to Bob", "when Bob comes, here, Bob: {}")
        verbs = (*(verb.name for verb in VERBS), "shout", "wave")
        for verb in verbs:
            lines = [f"> {verb} {rest.format(secret)}" for rest in rests]
            self.replies = ["\n".join(lines), "> wait"]
            self.char1.execute_cmd("whisper Mira = Do you know it still?")
            self.pass_time(4)
        self.replies = [f"Bob, {secret}!\n*shows Bob {secret}*", "> wait"]
        self.char1.execute_cmd("whisper Mira = Do you know it still?")
        self.pass_time(4)
        assert not any("forged" in line for line in shown)
        archive = self.mind.memory.memory.archive
        kept = [each for each in archive.read(1, archive.last_number) if "forged" in each.text]
        assert len(kept) > len(VERBS), "most verbs are told what is wrong, in private"
        tom = identity_of(self.char1)
        assert {tuple(each.witnesses or hearers(each)) for each in kept} == {(tom,)}


def hearers(memory: Memory) -> tuple[str, ...]:
    """Return who else heard or said the whisper of a memory, by identity."""
    match memory.what:
        case Speech(manner=Manner.WHISPER, speaker=speaker, to=to):
            return tuple(each.id for each in (speaker, *to) if each != ME)
    return ()


class TestWho(TalkWorld):
    """A confidence is that of a person, not of a name."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.char1.move_to(self.add_room("The Quay"), quiet=True)
        self.char2.move_to(self.char1.location, quiet=True)
        self.dorrit = self.add_player(2, "Dorrit")
        self.replies = ["I will keep it.", "> wait"]
        self.dorrit.execute_cmd("whisper Mira = My brother forged the harbour seal.")
        self.pass_time(6)

    def told(self, asker: Any, line: str) -> str:
        """Return what the model is shown to answer a line, as one text."""
        before = len(self.prompts())
        self.replies = [HM, "> wait"]
        asker.execute_cmd(line)
        self.pass_time(6)
        assert self.prompts()[before:]
        return "\n".join(self.prompts()[before:])

    def test_a_new_person_of_an_old_name_is_told_nothing(self):
        account = self.dorrit.account
        self.dorrit.delete()
        account.delete()
        other = self.add_player(3, "Dorrit")
        self.pass_time(10)
        for line in ("whisper Mira = What did I tell you?", "talk Mira What did I tell you?"):
            assert "forged" not in self.told(other, line)

    def test_a_person_with_a_new_name_is_reminded(self):
        self.dorrit.key = "Ottilie"
        asked = self.told(self.dorrit, "whisper Mira = What did I tell you?")
        assert "forged" in asked


class PrivateWorld(RecallWorld, TalkWorld):
    """Tom whispers to Mira in the inn; Ann comes in afterwards."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.replies = [ANSWER]
        for line, _ in WHISPERED:
            self.char1.execute_cmd(f"whisper Mira = {line}")
            self.pass_time(4)
        number = self.mind.memory.newest
        promise = Commitment(CommitmentKind.PROMISE, "Tom", "guard the mundrel", number)
        self.mind.memory.commitments.add(promise)
        self.replies = [HM]
        self.ann = self.add_player(2, "Ann")
        self.pass_time(10)

    def sent_texts(self) -> list[str]:
        """Return what was sent to the model, one text for each call."""
        calls = self.fake.calls("/api/chat")
        return ["\n".join(each["content"] for each in call.body["messages"]) for call in calls]

    def prompts_after(self, *lines: str) -> list[str]:
        """Let Ann type lines; return what is sent to the model meanwhile."""
        before = len(self.sent_texts())
        for line in lines:
            self.ann.execute_cmd(line)
            self.pass_time(6)
        found = self.sent_texts()[before:]
        assert found, "nobody was asked"
        return found

    def ask_everything(self) -> list[str]:
        return self.prompts_after(*(f"talk mira {each}" for each in QUESTIONS))

    def chat(self, times: int) -> None:
        """Let Ann say this many lines, to move the whispers out of the window."""
        self.mira.db.paused = True
        for number in range(times):
            self.ann.execute_cmd(f"say {CHATTER[number % len(CHATTER)]} {number}")
            self.wait_for_compaction()
        self.mira.attributes.remove("paused")
        self.pass_time(10)

    def compact(self) -> None:
        done: list[Any] = []
        self.mind.compactions.compact(CompactReason.MANUAL).addCallback(done.append)
        self.settle(lambda: bool(done))

    def empty_window(self) -> None:
        for _ in range(3):
            self.chat(8)
            self.compact()
        self.mind.read_edits()

    def run_night(self) -> list[str]:
        """Run all steps of a night with a model that repeats its prompts; return those prompts."""
        sleeping = self.services.sleeping.current
        before = len(self.sent_texts())
        self.services.sleeping = FixedConfig(type(sleeping)(profile="agent"))
        self.fake.script = lambda prompt: " ".join(str(prompt).split())[-300:]
        self.mind.sleeper.fall_asleep("a test said so")
        self.settle(lambda: not self.mind.sleeper.nights.working)
        self.mind.sleeper.wake("a test said so")
        self.fake.script = lambda _: HM
        self.pass_time(10)
        return self.sent_texts()[before:]

    def shared_texts(self) -> list[str]:
        """Return the texts that are in everybody's prompt, or are made from them."""
        folder = self.mind.memory.folder
        names = ("summaries", "journal", "notes", "pinned.md")
        paths = [p for name in names for p in (folder / name).glob("**/*") if p.is_file()]
        paths += [folder / name for name in names if (folder / name).is_file()]
        portraits = [each.portrait for each in self.mind.books.people.all()]
        return [*(p.read_text() for p in paths), *portraits]

    def recalled_words(self, audience: Audience | None) -> list[str]:
        """Return the private words that recall finds for an audience."""
        find = self.mind.tools.recaller.recall_blocking
        hits = [hit for each in QUESTIONS for hit in find(each, audience=audience).hits]
        return secrets_in([hit.document.text for hit in hits])

    def idle_prompts(self, *answers: str) -> list[str]:
        """Return the prompts of idle acts, after the first ones got these answers."""
        before = len(self.sent_texts())
        waiting = [*answers]
        # A plan is an occasion for an idle thought, each time a new one.
        self.mind.books.plans.add(Plan(what=f"sweep the floor, {before}"))
        self.set_thinking(idle_interval=1.0, pause_notice=0)
        self.ann.execute_cmd("talk mira Good evening.")
        self.pass_time(4)
        self.fake.script = lambda _: waiting.pop(0) if waiting else "> wait"
        self.clock.advance(400)
        self.pass_time(40)
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.fake.script = lambda _: HM
        found = self.sent_texts()[before:]
        assert found, "no act"
        assert not waiting, "no act"
        return found


class TestPrivateWords(PrivateWorld):
    def test_private_words_reach_nobody_else(self):
        """Collect the private words that reach Ann or an act, by their way."""
        found = {"window and turns": secrets_in(self.ask_everything())}
        self.mind.read_edits()
        found["pages and promises"] = secrets_in(self.ask_everything())
        held = self.mind.memory.memory.host.constraints()
        found["what summaries are held to"] = secrets_in([*held])
        self.empty_window()
        found["summaries, journal and recall"] = secrets_in(self.ask_everything())
        assert self.recalled_words(audience=None)
        found["what a search finds"] = self.recalled_words(audience=NO_PRIVATE_WORDS)
        found["a night's own prompts"] = secrets_in(self.run_night())
        found["after a night"] = secrets_in(self.ask_everything())
        found["stores that all prompts share"] = secrets_in(self.shared_texts())
        found["acts"] = secrets_in(self.idle_prompts())
        looks_up = self.idle_prompts("> recall cellar hide door spoon safe")
        found["what is looked up"] = secrets_in(looks_up)
        assert not any(found.values()), found

    def test_the_whisperer_is_reminded_in_whispers(self):
        self.empty_window()
        before = len(self.sent_texts())
        for question in QUESTIONS:
            self.char1.execute_cmd(f"whisper mira = {question}")
            self.pass_time(6)
        prompts = "\n".join(self.sent_texts()[before:])
        assert set(secrets_in([prompts])) >= set(SECRETS[:4]), prompts

    def leave_tom_alone_with_mira(self) -> None:
        """Empty her window and end her promises; let all others leave."""
        self.empty_window()
        self.mind.memory.commitments.close(lambda _: True)
        attic = self.add_room("The Attic")
        for each in (self.ann, self.char2):
            each.move_to(attic, quiet=True)
        self.pass_time(6)

    def test_a_search_alone_with_the_whisperer_is_certain_to_bring_the_whispers(self):
        self.leave_tom_alone_with_mira()
        before = len(self.sent_texts())
        self.replies = [f"> recall {IN_CONFIDENCE}", "So it is.", "> wait"]
        self.char1.execute_cmd("talk mira Well, Mira? You know which.")
        self.pass_time(8)
        first, second, *_ = self.sent_texts()[before:]
        assert CONFIDED in first
        assert not secrets_in([first]), "so that the answer need not be private"
        assert len(secrets_in([second])) > 1
        self.ann.move_to(self.mira.location, quiet=True)
        self.pass_time(4)
        found = self.prompts_after("talk mira What did he say?", "talk mira And you?")
        assert not secrets_in(found)
        assert not any(CONFIDED in each for each in found)

    def test_alone_with_the_whisperer_a_prompt_without_whispers_takes_no_deed_away(self):
        self.leave_tom_alone_with_mira()
        before = len(self.sent_texts())
        self.replies = [
            "I will.\n> plan tomorrow 12:00: air the room\n> note air: at noon",
            "> wait",
        ]
        self.char1.execute_cmd("talk mira Air the room at noon, please.")
        self.pass_time(6)
        (prompt,) = self.sent_texts()[before:]
        assert "> talk" not in prompt.partition("[Not possible now: ")[2]
        assert not secrets_in([prompt])
        (plan,) = self.mind.books.plans.current
        assert plan.private is None
        assert [each.title for each in self.mind.books.notes.all()] == ["air"]

    def test_the_whisperer_is_not_reminded_before_others(self):
        self.char1.execute_cmd("talk mira Good evening.")
        self.pass_time(6)  # answered in a whisper, because the last whisper has no answer yet
        before = len(self.sent_texts())
        for question in QUESTIONS:
            self.ask(question, seconds=6)
        assert not secrets_in(self.sent_texts()[before:])

    def test_a_search_out_of_a_whisper_is_remembered_without_its_words(self):
        self.replies = ["> recall the grelnick vault | Tom has a grelnick", HM]
        self.char1.execute_cmd("whisper mira = Where is the grelnick vault?")
        self.pass_time(8)
        window = self.mind.memory.context().window
        assert ("recall …", "") in [(each.text, each.reason) for each in window]
        assert not [p for p in self.ask_everything() if "grelnick" in p]
