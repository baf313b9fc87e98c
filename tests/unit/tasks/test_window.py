"""The window of a prompt: true order, own deeds as written, and whom words were spoken to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.turns.waiting import came_after, unanswered
from keepsake.archive.message_types import MessageType
from keepsake.archive.privacy import redacted
from keepsake.archive.records import Memory
from keepsake.happening import ME, Deed, Manner, Person, Pose, Result, Sight, Speech, What
from keepsake.paths import SHIPPED_CONFIG
from keepsake.tasks.conversation import turns_of
from keepsake.tasks.task_prompts import task_prompts

START = datetime(2026, 11, 26, 18, 0, tzinfo=UTC)
TOM = Person("Tom", "41-1")
BRAM = Person("Bram", "42-1")
ANNEKE = Person("Anneke", "43-1")


def life(*happened: What, answers: int = 0) -> list[Memory]:
    """Return memories of what happened; ``answers``: what the last of them answers."""
    found = [
        Memory(n, START + timedelta(seconds=n), what, "The Kettle")
        for n, what in enumerate(happened, start=1)
    ]
    last = found[-1]
    return [*found[:-1], Memory(last.number, last.time, last.what, last.place, answers=answers)]


def says(who: Person, words: str, to: Person | None = ME) -> Speech:
    people = (to,) if to else ()
    return Speech(speaker=who, words=words, to=people, shown=f'{who.name} says, "{words}"')


def own(words: str, to: Person, shown: str = "") -> Speech:
    return Speech(speaker=ME, words=words, to=(to,), shown=shown or f"say {words}")


def shown(*happened: What, answers: int = 0) -> list[tuple[str, list[str]]]:
    turns = turns_of(life(*happened, answers=answers))
    return [(turn.role, [each for each in turn.lines if each[0] != "["]) for turn in turns]


class TestOrder:
    def test_an_answer_comes_after_what_happened_while_it_was_written(self):
        asked = says(ANNEKE, "Is he there?")
        goes = Sight(source=ANNEKE, shown="Anneke goes south.")
        assert shown(asked, goes, own("He is.", ANNEKE), answers=1) == [
            ("user", ['Anneke says, "Is he there?"', "Anneke goes south."]),
            ("assistant", ["He is."]),
        ]

    @given(st.lists(st.sampled_from([says(TOM, "A?"), says(BRAM, "B?"), own("C.", TOM)])))
    def test_all_lines_are_in_the_order_of_the_archive(self, happened):
        if happened:
            lines = [line for _, lines in shown(*happened) for line in lines]
            text = " ".join(lines)
            places = [word for word in text.replace("?", ".").split(".") if word]
            wanted = [what.words.strip("?.") for what in happened]
            assert [place[-1] for place in places if place[-1] in "ABC"] == wanted


class TestAddressees:
    def test_words_to_who_turned_to_the_agent_last_are_plain(self):
        assert shown(says(TOM, "A?"), own("Yes.", TOM))[-1] == ("assistant", ["Yes."])

    def test_words_to_somebody_else_are_not_plain(self):
        found = shown(says(BRAM, "B?"), says(TOM, "A?"), own("Yes, Bram.", BRAM))
        assert found[-1] == ("assistant", ["> talk Bram = Yes, Bram."])

    def test_plain_words_and_words_to_somebody_else_are_not_joined(self):
        found = shown(says(TOM, "A?"), own("Yes.", TOM), own("Hear that?", BRAM))
        assert found[-1] == ("assistant", ["Yes.", "> talk Bram = Hear that?"])

    def test_people_are_told_apart_by_identity_and_not_by_name(self):
        other = Person("Tom", "99-1")
        assert shown(says(other, "A?"), own("Yes.", TOM))[-1][1] == ["> talk Tom = Yes."]
        renamed = Person("Thomas", TOM.id)
        assert shown(says(TOM, "A?"), own("Yes.", renamed))[-1][1] == ["Yes."]

    def test_talk_between_others_changes_nothing(self):
        found = shown(says(TOM, "A?"), says(BRAM, "Hm.", to=TOM), own("Yes.", TOM))
        assert found[-1] == ("assistant", ["Yes."])


class TestDeeds:
    def test_own_deeds_are_shown_as_they_were_written(self):
        follows = Deed(actor=ME, verb="follow", to=(ANNEKE,), shown="follow Anneke")
        nods = Pose(actor=ME, gesture="nods", shown="emote nods")
        psst = Speech(
            speaker=ME, words="Psst.", to=(TOM,), manner=Manner.WHISPER, shown="whisper Tom = Psst."
        )
        found = shown(says(TOM, "A?"), follows, nods, psst)
        assert found[-1][1] == ["> follow Anneke", "*nods*", "> whisper Tom = Psst."]

    def test_a_plan_that_is_made_stands_once_and_one_that_is_refused_with_the_reason(self):
        plan = Deed(actor=ME, verb="plan", outcome="carry her pies", shown="plan carry her pies")
        noted = Result(verb="plan", done=True, shown="You mean to: carry her pies")
        refused = Result(verb="plan", done=False, shown="The plan says nothing to do")
        assert shown(says(TOM, "A?"), plan, noted)[-1] == ("assistant", ["> plan carry her pies"])
        assert shown(says(TOM, "A?"), plan, refused)[-1] == (
            "user",
            ["The plan says nothing to do"],
        )

    def test_what_was_done_in_private_leaves_no_line(self):
        plan = Deed(actor=ME, verb="plan", outcome="carry her pies", shown="plan carry her pies")
        noted = Result(verb="plan", done=True, shown="You mean to: carry her pies")
        told, *mine = life(says(TOM, "A?"), plan, noted, own("Yes.", TOM))
        private = [redacted(replace(each, witnesses=(TOM.id,))) for each in mine[:2]]
        turns = turns_of([told, *private, mine[2]])
        text = " ".join(line for turn in turns for line in turn.lines)
        assert "Yes." in text
        assert "plan" not in text
        assert "whispered" not in text


class TestTime:
    def test_time_that_passed_is_told_also_where_the_part_of_the_day_changes(self):
        def said(hour: int, minute: int, number: int) -> Memory:
            time = START.replace(hour=hour, minute=minute)
            return Memory(number, time, says(TOM, f"At {hour}:{minute}."), "The Kettle")

        memories = [said(21, 51, 1), said(23, 1, 2), said(23, 2, 3)]
        (turn,) = turns_of(memories, lambda silence: f"[{silence.seconds // 60} minutes later]")
        lines = [each for each in turn.lines if each[0] == "["]
        assert lines == [
            "[Thursday 26 November 2026, evening, The Kettle]",
            "[70 minutes later]",
            "[Thursday 26 November 2026, night, The Kettle]",
        ]

    def test_another_place_of_the_same_evening_is_told_without_the_date(self):
        def said(hour: int, number: int, place: str) -> Memory:
            time = START.replace(hour=hour)
            return Memory(number, time, says(TOM, f"{number}."), place)

        quay = said(18, 2, "The Quay")
        memories = [said(18, 1, "The Inn"), quay, replace(quay, number=3), said(23, 4, "The Quay")]
        (turn,) = turns_of([*memories, said(23, 5, "The Inn")])
        assert [each for each in turn.lines if each[0] == "["] == [
            "[Thursday 26 November 2026, evening, The Inn]",
            "[The Quay]",
            "[Thursday 26 November 2026, night, The Quay]",
            "[The Inn]",
        ]

    def test_a_clock_that_was_set_back_is_told_too(self):
        def said(minute: int, number: int) -> Memory:
            return Memory(number, START.replace(minute=minute), says(TOM, f"{number}."), "The Inn")

        talk = task_prompts(SHIPPED_CONFIG, SHIPPED_CONFIG)["talk"].current

        def later(silence):
            return talk.render("later", minutes=round(silence.total_seconds() / 60.0))

        (turn,) = turns_of([said(26, 1), said(20, 2), said(30, 3), said(31, 4)], later)
        assert turn.lines[1:6] == [
            'Tom says, "1."',
            "[6 minutes earlier: the clocks were set back]",
            'Tom says, "2."',
            "[10 minutes later]",
            'Tom says, "3."',
        ]


class TestUnanswered:
    def impulse(self, who: Person, memory: int) -> Impulse:
        return Impulse(ImpulseKind.ADDRESSED, True, who.name, memory, who.id)

    def test_a_new_character_with_an_old_name_did_not_say_it(self):
        window = life(says(TOM, "My secret."), says(Person("Tom", "99-1"), "Hello."))
        assert unanswered(window, self.impulse(Person("Tom", "99-1"), 2)).words == "Hello."

    def test_a_line_of_a_canned_scene_waits_for_nothing(self):
        scene, spoken = life(says(TOM, "Salt?"), says(TOM, "Well?"))
        window = [replace(scene, event=MessageType.SCENE), spoken]
        assert unanswered(window, self.impulse(TOM, 2)).words == "Well?"

    def test_a_renamed_one_did(self):
        window = life(says(TOM, "My boat."), says(Person("Thomas", TOM.id), "Well?"))
        found = unanswered(window, self.impulse(Person("Thomas", TOM.id), 2))
        assert found.words == "My boat. Well?"

    def test_an_answer_to_somebody_else_of_that_name_is_no_answer(self):
        window = life(says(TOM, "Well?"), own("Hm.", Person("Tom", "99-1")))
        assert unanswered(window, self.impulse(TOM, 1)).words == "Well?"

    def test_what_is_answered_is_repeated_only_if_something_came_after_it(self):
        for after, expected in (
            (says(BRAM, "B?"), True),
            (own("Hm.", BRAM), True),
            (says(BRAM, "Hm.", to=TOM), False),
            (Sight(shown="Rain."), False),
            (says(TOM, "And?"), False),
        ):
            window = life(says(TOM, "A?"), after)
            waiting = unanswered(window, self.impulse(TOM, 1))
            assert came_after(window, waiting, TOM) is expected, after

    def waiting(self, *happened: What | Memory, impulse: Impulse | None = None) -> str:
        window = [
            each
            if isinstance(each, Memory)
            else Memory(n, START + timedelta(seconds=n), each, "The Kettle")
            for n, each in enumerate(happened, start=1)
        ]
        return unanswered(window, impulse or self.impulse(TOM, 0)).words

    def test_only_the_newest_line_waits_with_the_one_before_if_it_came_at_once(self):
        assert self.waiting(says(TOM, "A?"), says(TOM, "B?"), says(TOM, "C?")) == "B? C?"
        later = Memory(9, START + timedelta(seconds=40), says(TOM, "D?"), "The Kettle")
        assert self.waiting(says(TOM, "A?"), later) == "D?"

    def test_a_whisper_and_open_words_are_never_one_question(self):
        psst = Speech(speaker=TOM, words="Psst?", to=(ME,), manner=Manner.WHISPER)
        assert self.waiting(psst, says(TOM, "A?")) == "A?"
        assert self.waiting(says(TOM, "A?"), psst) == "Psst?"

    def test_words_to_others_and_to_everybody_do_not_wait(self):
        heard = (says(TOM, "Bram?", to=BRAM), says(TOM, "Bram, do you know?", to=None))
        assert self.waiting(*heard) == ""
        assert self.waiting(*heard, impulse=self.impulse(TOM, 2)) == "Bram, do you know?"

    def test_words_or_a_deed_for_the_person_end_the_wait(self):
        gives = Deed(actor=ME, verb="give", objects=("cup",), to=(TOM,), shown="give cup to Tom")
        assert self.waiting(says(TOM, "A?"), own("Yes.", TOM)) == ""
        assert self.waiting(says(TOM, "A?"), gives) == ""
        refused = Result(verb="give", act=2, done=False, shown="You have no cup.")
        assert self.waiting(says(TOM, "A?"), gives, refused) == "A?"

    def test_a_line_waits_no_longer_when_the_two_have_parted(self):
        asked = says(TOM, "A?")
        leaves = Memory(
            2,
            START + timedelta(seconds=2),
            Sight(source=TOM, shown="Tom goes south."),
            "The Kettle",
            event=MessageType.TRAVERSE,
        )
        away = Memory(2, START + timedelta(seconds=2), Sight(shown="Rain."), "The Quay")
        back = Memory(3, START + timedelta(seconds=30), Sight(shown="Fire."), "The Kettle")
        assert self.waiting(asked, leaves) == ""
        assert self.waiting(asked, away, back) == ""
        late = Memory(2, START + timedelta(hours=11), Sight(shown="Dawn."), "The Kettle")
        assert self.waiting(asked, late) == ""
        by_player = self.impulse(TOM, 1)
        assert self.waiting(asked, leaves, impulse=by_player) == "A?"
        by_agent = replace(by_player, from_player=False)
        assert self.waiting(asked, away, back, impulse=by_agent) == ""

    def test_the_words_of_another_person_are_not_the_partners(self):
        window = life(says(ANNEKE, "Thank you."), says(BRAM, "Well?"))
        found = unanswered(window, self.impulse(ANNEKE, 1), partner=BRAM)
        assert found.words == "Well?"
