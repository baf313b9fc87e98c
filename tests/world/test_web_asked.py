"""Short answers to what people ask about agents, and which question typed words mean."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from unittest.mock import patch

from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.books.aloud import Aloud
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import Plan
from keepsake.books.usual_hours import UsualHours
from keepsake.contrib.evennia.minds import mind_of
from keepsake.happening import Person
from keepsake.language.due import DueDay
from keepsake.language.when import When
from keepsake.ports import FixedClock
from keepsake.web.questions.clock import meant_by
from tests.world.web_world import WebWorld

NOON = datetime(2026, 5, 9, 12, tzinfo=UTC)
SECRET = "The bell lies under the jetty."
LADLE = "On its hook, where Jo left it."


class TestAsked(WebWorld):
    """Tom and Jo have talked with Mira, and Tom whispered to her; Ada was there."""

    def setUp(self):
        super().setUp()
        self.ada = self.add_agent("Ada")
        self.ada.db.paused = True
        self.jo = self.add_player(7, "Jo")
        self.ask("My brother Edwin mends nets in Ostrey.", "> say Then he has good hands.")
        self.ask("Where is the ladle?", f"> say {LADLE}", who=self.jo)
        self.replies = ["> wait"]
        self.char1.execute_cmd(f"whisper Mira = {SECRET}")
        self.pass_time(1.5)
        self.tom = identity_of(self.char1)

    def answer_to(self, of, about="", agent=None, status=200):
        """Return the lines of a short answer about Mira, as pairs of label and text."""
        number = (agent or self.mira).id
        found = self.get(f"/agents/{number}/answer", status, of=of, about=about)
        return found["error"] if status != 200 else found["lines"]

    def offered(self, words, **query):
        """Return the questions that words may mean."""
        return [each["question"] for each in self.get("/asked", q=words, **query)]

    def test_what_she_knows_begins_with_what_was_told_in_private_promised_and_planned(self):
        self.ask("Will you keep me some soup?", "> say I shall.\n> promise Tom = a bowl of soup")
        due = self.services.clock.now() + timedelta(days=3)
        self.mind.books.plans.add(
            Plan(what="fetch honey", whom=Person("Tom", self.tom), when=When(due))
        )
        lines = self.answer_to("knows", "Tom")
        assert [each["label"] for each in lines] == [
            "Told in private",
            "Promised",
            "Planned",
            "Told openly",
        ]
        private, promised, planned, openly = lines
        assert private["text"] == f"“{SECRET}”"
        assert private["private"] == "whispered"
        assert (promised["text"], promised["private"]) == ("a bowl of soup", "")
        assert planned["text"] == "fetch honey"
        assert planned["aside"].startswith(f"{due.astimezone():%a}")
        assert "Edwin" in openly["text"]
        assert self.answer_to("knows", self.tom) == lines

    def test_what_she_pinned_noted_and_was_asked_for_is_told_in_her_words(self):
        self.ask("No walnuts for me, they close my throat.", "> pin Tom: no walnuts, ever")
        self.ask("I mend the nets of Ostrey.", "> remember Tom mends nets in Ostrey")
        self.ask("Would you fetch the ladle?", "> plan now: fetch the ladle for Tom\n> done ladle")
        lines = {each["label"]: each for each in self.answer_to("knows", "Tom")}
        assert [*lines][:3] == ["Pinned", "Told in private", "Noted"]
        assert lines["Pinned"]["text"] == "Tom: no walnuts, ever"
        assert lines["Noted"]["text"] == "Tom mends nets in Ostrey"
        asked = lines["Asked for last"]
        assert (asked["text"], asked["aside"]) == ("fetch the ladle for Tom", "done")

    def test_what_a_promise_answers_is_no_errand_if_it_tells_something(self):
        self.replies = ["> say I shall wait up.\n> promise Tom = a bowl of soup on Friday night"]
        secret = "On Friday I see the surgeon in Brindle, for a shadow on the lung."
        self.char1.execute_cmd(f"whisper Mira = {secret} Will you keep me some soup?")
        self.pass_time(1.5)
        lines = self.answer_to("knows", "Tom")
        assert f"“{secret} …”" in [each["text"] for each in lines]
        assert "Asked for last" not in [each["label"] for each in lines]
        number = next(each["number"] for each in lines if each["label"] == "Promised")
        assert number

    def test_a_long_line_is_cut_to_what_tells_most_and_the_whole_is_there(self):
        long = (
            "Good evening to you and to the whole house, and may the wind turn before the week is "
            "out for all of us who sit here with wet feet and wait for the bell of the ferry! "
            "The ladle of Jo lies in Ostrey. Is that soup, or is it only steam?"
        )
        self.ask(long)
        found = [each for each in self.answer_to("knows", "Tom") if "Ostrey" in each["part"]]
        assert [(each["text"], each["whole"], each["part"]) for each in found] == [
            (
                "“… The ladle of Jo lies in Ostrey. …”",
                f"“{long}”",
                "The ladle of Jo lies in Ostrey.",
            )
        ]
        page = self.web.get("/agents/ask/", {"q": "Mira Tom"}).content.decode()
        assert 'class="in-brief" title="“Good evening to you' in page

    def test_a_line_stands_once_whatever_parts_of_it_tell(self):
        self.ask(
            "My brother found the ladle beneath a sail in Ostrey, that the miller of Bree had torn "
            "in the gale of March. He hung his nets in the loft of a chandler, where two owls and "
            "a marten nest each summer, and none of them pays."
        )
        texts = [each["whole"] or each["text"] for each in self.answer_to("knows", "Tom")]
        assert len([each for each in texts if "miller" in each]) == 1

    def test_thanks_and_questions_are_no_second_secret(self):
        for words in ("Thank you. It is lighter already.", "You will not tell it, will you?"):
            self.char1.execute_cmd(f"whisper Mira = {words}")
            self.pass_time(6)
        private = [each["text"] for each in self.answer_to("knows", "Tom") if each["private"]]
        assert private == [f"“{SECRET}”"]

    def test_what_she_knows_of_a_thing_is_who_said_it(self):
        (heard,) = self.answer_to("knows", "the bell")
        assert heard["label"] == "Heard"
        assert heard["text"] == f'Tom whispers to Mira, "{SECRET}"'
        assert self.answer_to("knows", "xylophones") == []

    def test_why_she_said_something_begins_with_her_words(self):
        said, because = self.answer_to("said", "hook")[:2]
        assert (said["label"], said["text"]) == ("To Jo", f"“{LADLE}”")
        assert because["label"] == "Because"
        assert because["text"] == 'Jo says to Mira, "Where is the ladle?"'
        assert self.answer_to("said", "herrings") == []

    def ahead(self):
        return [(each["label"], each["text"]) for each in self.answer_to("next")]

    def test_why_she_said_something_names_what_she_keeps_of_it(self):
        for words in ("Good evening.", "The soup is hot.", "Is the door shut?"):
            self.ask(words)
        self.ask(
            "Good evening. Does something lie under the jetty, a bell perhaps?",
            "> say Ask the tide, Jo.",
            who=self.jo,
        )
        said, because, keeps = self.answer_to("said", "tide")
        assert said["text"] == "“Ask the tide, Jo.”"
        assert because["label"] == "Because"
        assert (keeps["label"], keeps["text"]) == ("It keeps", f"Tom: “{SECRET}”")
        assert keeps["private"]
        assert "had only that it was whispered" in keeps["aside"]
        page = self.web.get("/agents/ask/said", {"agent": self.mira.id, "words": "tide"})
        assert "<dt>It keeps</dt>" in page.content.decode()
        why = self.get(self.of_mira("/why"), memory=said["number"])
        assert (why["motive"]["kind"], why["motive"]["masked"]) == ("told", True)
        assert why["motive"]["text"] == SECRET

    def test_her_own_last_words_from_which_she_goes_on_stand_beside_what_she_answers(self):
        self.ask("Is Jo hungry?", "> say Pass Jo the bread, then.")
        self.ask("I took the fork.", "> say Shut your mouth, it is full of bread.")
        labels = {each["label"]: each["text"] for each in self.answer_to("said", "full of bread")}
        assert labels["Just before"] == 'Mira says to Tom, "Pass Jo the bread, then."'
        said = self.web.get("/agents/ask/said", {"agent": self.mira.id, "words": "full of bread"})
        assert "<dt>Just before</dt>" in said.content.decode()
        (number,) = {each["number"] for each in self.answer_to("said", "full of bread")[:1]}
        (own,) = self.get(self.of_mira("/why"), memory=number)["goes_on"]
        assert own["what"]["words"] == "Pass Jo the bread, then."

    def test_of_long_words_that_were_answered_the_end_is_told(self):
        long = f"{'The wind turns and the tide comes in. ' * 6}Where is the spoon?"
        self.ask(long, "> say Under the ladle.")
        because = self.answer_to("said", "Under")[1]
        assert because["text"].endswith(
            'The wind turns and the tide comes in. Where is the spoon?"'
        )
        assert because["text"].startswith('Tom says to Mira, "… The wind')
        assert because["whole"].startswith('Tom says to Mira, "The wind')
        assert len(because["text"]) < len(because["whole"])

    def test_what_she_will_do_begins_with_what_is_next_then_today_then_tomorrow(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)
        nothing = [("Today, Sat 9 May", "No plan"), ("Tomorrow, Sun 10 May", "No plan")]
        assert self.ahead() == [("Next", "Nothing is known."), *nothing]
        self.mind.books.plans.add(Plan(what="swim", when=When(noon + timedelta(days=4))))
        assert self.ahead() == [("Next", "Wed 13 May, 12:00: swim"), *nothing]
        tom = Person("Tom", self.tom)
        mira = Person("Mira", identity_of(self.mira))
        eight = noon + timedelta(hours=20)
        self.mind.books.plans.add(Plan(what="meet Tom at the pump", when=When(eight), whom=tom))
        self.mind.books.plans.add(Plan(what="bake", when=When(noon + timedelta(hours=2))))
        mind_of(self.ada).books.plans.add(
            Plan(what="bring an apple", when=When(eight + timedelta(hours=1)), whom=mira)
        )
        self.mind.books.plans.add(Plan(what="sail", when=When(noon + timedelta(days=2))))
        assert self.ahead() == [
            ("Next", "14:00: bake"),
            ("Today, Sat 9 May", "No other plan"),
            ("Tomorrow, Sun 10 May", "08:00: meet Tom at the pump"),
            ("Tomorrow, Sun 10 May", "09:00, Ada's plan: bring an apple"),
            ("Mon 11 May, 12:00", "sail"),
            ("Wed 13 May, 12:00", "swim"),
        ]
        # As soon as the next day has begun, it is today.
        self.services.clock = FixedClock(noon + timedelta(hours=12, minutes=5))
        assert [each for each in self.ahead() if "Sun" in each[0] or each[0] == "Next"] == [
            ("Next", "08:00: meet Tom at the pump"),
            ("Today, Sun 10 May", "09:00, Ada's plan: bring an apple"),
        ]

    def test_what_is_usual_comes_next_if_it_is_earlier_than_her_plans(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)

        def hours_between(_agent, begins, _ends):
            six = timedelta(hours=18)
            days = [begins + timedelta(days=each) for each in range(2)]
            return [
                UsualHours(
                    since=each + six, until=each + six * 1.1, place="The Kettle", does=("serves",)
                )
                for each in days
            ]

        self.mind.books.plans.add(Plan(what="bake", when=When(noon + timedelta(hours=20))))
        with patch.object(type(self.mira), "hours_between", hours_between):
            assert self.ahead() == [
                ("Next", "usually 18:00 at The Kettle: serves"),
                ("Today, Sat 9 May", "No plan; usually 18:00 The Kettle"),
                ("Tomorrow, Sun 10 May", "08:00: bake"),
            ]
            self.mind.books.plans.add(Plan(what="swim", when=When(noon + timedelta(hours=1))))
            assert self.ahead()[:2] == [
                ("Next", "13:00: swim"),
                ("Today, Sat 9 May", "No other plan; usually 18:00 The Kettle"),
            ]

    def test_promises_for_a_day_stand_among_her_plans_with_the_day_when_they_were_said(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)
        promised = self.mind.books.commitments
        kind = CommitmentKind.PROMISE
        sunday = DueDay(date(2026, 5, 10))
        newest = self.mind.memory.memory.archive.last_number
        promised.add(Commitment(kind, "Tom", "a loaf tomorrow", newest, due=sunday))
        promised.add(Commitment(kind, "Jo", "a song", due=DueDay(date(2026, 5, 12), time(9))))
        promised.add(Commitment(kind, "Tom", "an eel", due=DueDay(date(2026, 5, 8))))
        lines = self.ahead()
        assert lines[0][1].startswith("tomorrow, promised Tom: a loaf tomorrow (")
        assert ("Tue 12 May, 09:00", "promised Jo: a song") in lines
        assert ("Was for Fri 8 May", "promised Tom: an eel") in lines
        (loaf,) = (each for each in self.get("/promises") if each["text"] == "a loaf tomorrow")
        assert loaf["whole_day"]
        assert datetime.fromisoformat(loaf["at"]) == datetime(2026, 5, 10).astimezone()
        assert loaf["said"] is not None

    def test_a_promise_without_a_day_in_the_file_may_name_it_as_of_when_it_was_said(self):
        archive = self.mind.memory.memory.archive
        newest = archive.last_number
        said = archive.read_each([newest])[newest].time.astimezone()
        self.mind.books.commitments.path.write_text(
            f"- promise to Jo: soup tomorrow (memory {newest})\n- promise to Jo: a song\n"
        )
        self.services.clock = FixedClock(said)
        assert self.ahead()[0] == ("Next", "tomorrow, promised Jo: soup tomorrow")
        assert self.ahead()[-1] == ("Promised", "Jo: a song")
        self.services.clock = FixedClock(said + timedelta(days=1))
        first = self.answer_to("next")[0]
        dated = f"{said + timedelta(days=1):%a} {(said + timedelta(days=1)).day}"
        assert first["text"].startswith(f"today, promised Jo: soup tomorrow ({dated} ")
        assert first["aside"] == f"said on {said:%a} {said.day} {said:%b}"

    def test_the_day_of_a_promise_is_read_when_she_makes_it(self):
        self.ask("Will you keep me a loaf?", "> say I shall.\n> promise Tom, in 2 days: a loaf")
        self.ask("And a song?", "> say Surely.\n> promise Tom, when Jo comes: a song")
        today = self.services.clock.now().astimezone().date()
        loaf, song = self.mind.books.commitments.items
        assert (loaf.text, loaf.due) == ("a loaf", DueDay(today + timedelta(days=2)))
        assert (song.text, song.due) == ("when Jo comes: a song", None)

    def test_the_hour_of_a_promise_is_in_what_she_said_with_it_or_of_its_day_later(self):
        self.ask("May I come tomorrow?", "> say Surely, Tom.\n> promise Tom, tomorrow: a loaf")
        assert self.ahead()[0] == ("Next", "tomorrow, promised Tom: a loaf")
        self.ask("When?", "> say Tomorrow at half past six, warm; will you come?")
        first = self.answer_to("next")[0]
        assert first["text"] == "tomorrow, 06:30, promised Tom: a loaf"
        assert first["aside"] == "“Tomorrow at half past six, warm”"
        self.ask("And a song?", "> say From nine, in the yard!\n> promise Tom, tomorrow: a song")
        day = next(each for each in self.ahead() if each[0].startswith("Tomorrow"))
        assert day[1] == "09:00, promised Tom: a song"
        (song,) = (each for each in self.get("/promises") if each["text"] == "a song")
        assert (song["when_said"], song["whole_day"]) == ("From nine, in the yard!", False)

    def test_what_has_a_part_of_the_day_stands_at_its_place_among_hours(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)
        promised = self.mind.books.commitments
        kind = CommitmentKind.PROMISE
        sunday = date(2026, 5, 10)
        promised.add(Commitment(kind, "Jo", "tea", due=DueDay(sunday, part="evening")))
        promised.add(Commitment(kind, "Jo", "eels", due=DueDay(sunday, part="morning")))
        promised.add(Commitment(kind, "Jo", "a song", due=DueDay(sunday, time(12))))
        lines = self.ahead()
        assert lines[0] == ("Next", "tomorrow, morning, promised Jo: eels")
        assert [text for label, text in lines if label.startswith("Tomorrow")] == [
            "12:00, promised Jo: a song",
            "evening, promised Jo: tea",
        ]
        self.services.clock = FixedClock(noon + timedelta(hours=22))
        assert self.ahead()[0] == ("Next", "morning, promised Jo: eels")

    def test_a_plan_that_only_reminds_of_a_promise_is_told_as_that(self):
        self.ask("Soup?", "> say In an hour.\n> promise Tom, in 60 minutes: soup")
        texts = [text for _, text in self.ahead() if "soup" in text]
        assert [each.rpartition(", ")[2] for each in texts] == ["promised Tom: soup"]  # or tomorrow
        (plan,) = self.get("/plans")
        assert plan["promised"]
        labels = [each["label"] for each in self.answer_to("knows", "Tom")]
        assert labels.count("Promised") == 1
        assert "Planned" not in labels

    def test_what_she_had_in_mind_at_a_time_is_what_she_meant_kept_secret_and_heard(self):
        bake = Plan(what="bake", when=When(datetime(2026, 5, 9, 8).astimezone()))
        for plan in (Plan(what="fetch honey"), Plan(what="sing"), bake):
            self.mind.books.plans.add(plan)
        now = int(self.services.clock.now().timestamp()) + 1
        lines = self.answer_to("then", str(now))
        assert [(each["label"], each["text"]) for each in lines[:2]] == [
            ("Meant to", "Sat 9 May, 08:00: bake"),
            ("Meant to", "fetch honey"),
        ]
        assert lines[1]["aside"] == "and 1 more"
        told = {each["label"]: each for each in lines}
        assert told["Keeps secret"]["text"] == f"“{SECRET}”"
        assert told["Keeps secret"]["private"]
        assert told["Keeps secret"]["aside"].startswith("Tom ")
        # Jo only asked after that, which tells nothing.
        assert told["Heard last"]["text"] == "“My brother Edwin mends nets in Ostrey.”"
        assert not told["Heard last"]["private"]
        assert self.answer_to("then", "2020-01-01") == []
        assert "is no time in the past" in self.answer_to("then", "the cup", status=400)

    def test_two_secrets_leave_room_for_what_was_heard_if_nothing_was_meant(self):
        self.ann = self.add_player(3, "Ann")
        self.ann.execute_cmd("whisper Mira = I have sold the anchor of the Heron.")
        self.pass_time(6)
        now = int(self.services.clock.now().timestamp()) + 1
        labels = [each["label"] for each in self.answer_to("then", str(now))]
        assert labels == ["Meant to", "Keeps secret", "Keeps secret", "Heard last"]

    def test_what_was_heard_last_is_always_told_the_question_in_it_too(self):
        for what in ("fetch honey", "sweep the yard", "mend the sail"):
            self.mind.books.plans.add(Plan(what=what))
        self.ask("I have warm feet. Which letter of the drowned would you open first?")
        now = int(self.services.clock.now().timestamp()) + 1
        lines = self.answer_to("then", str(now))
        labels = [each["label"] for each in lines]
        assert labels == ["Meant to", "Meant to", "Keeps secret", "Heard last"]
        assert "Which letter of the drowned" in lines[-1]["text"]

    def test_what_was_whispered_and_asked_for_a_deed_is_no_secret(self):
        self.replies = ["> plan 23:00: ring the bell of Ostrey for Tom"]
        self.char1.execute_cmd("whisper Mira = Ring the bell of Ostrey at eleven, for the drowned.")
        self.pass_time(1.5)
        now = int(self.services.clock.now().timestamp()) + 1
        kept = [x["text"] for x in self.answer_to("then", str(now)) if x["label"] == "Keeps secret"]
        assert kept == [f"“{SECRET}”"]

    def test_a_promise_that_a_plan_will_keep_is_told_once(self):
        self.ask(
            "Will you wake me tomorrow at six?",
            "> say I shall.\n> promise Tom: wake him\n> plan tomorrow 6:00, Tom: wake Tom",
        )
        newest = self.mind.memory.memory.archive.last_number
        lines = self.answer_to("then", f"m{newest}")
        meant = [each["text"] for each in lines if each["label"] in ("Meant to", "Promised", "")]
        assert len(meant) == 1
        assert meant[0].endswith("06:00: wake Tom")
        assert self.answer_to("next")[0]["text"].endswith("06:00: wake Tom")
        assert "promised Tom: wake him" not in str(self.answer_to("next"))

    def test_a_plan_that_is_somebodys_words_is_told_as_a_person_would(self):
        archive = self.mind.memory.memory.archive
        words = {each.words: each for each in archive.read(1, archive.last_number)}
        asked = words["Where is the ladle?"]
        line = Aloud.of(asked.number, asked.text).request
        self.mind.books.plans.add(Plan(what=line, since=asked.number))
        told = words[SECRET]
        line = Aloud.of(told.number, told.text).request
        self.mind.books.plans.add(Plan(what=line, since=told.number))
        assert [each["what"] for each in self.get("/plans")] == [
            "answer Jo: “Where is the ladle?”",
            f"do as asked by Tom: “{SECRET}”",
        ]

    def test_a_clock_time_means_the_evening_of_an_agent_that_remembers_nothing_after_it(self):
        span = (datetime(2026, 5, 9, 20).timestamp(), datetime(2026, 5, 9, 21).timestamp())
        now = datetime(2026, 5, 10, 8).astimezone()
        assert meant_by("21:30", now, span) == datetime(2026, 5, 9, 21, 30).astimezone()
        assert meant_by("20:30", now, span) == datetime(2026, 5, 9, 20, 30).astimezone()
        assert meant_by("09:30", now, span) < now, "it has not come yet today"

    def test_of_what_a_compaction_lost_what_others_told_is_counted_first(self):
        self.ask("The weir of Ostrey sings at night.", "> pose nods")
        archive = self.mind.memory.memory.archive
        last = archive.last_number
        summary = Summary(Tier.RECENT, 1, last, "A quiet evening.", "a model", NOON, sources=((),))
        archive.append(SummaryState(None, summary, last, 1, NOON).compaction_line(1))
        headline, first, *_ = self.answer_to("lost", "1")
        assert headline["text"].endswith("things that others told or gave are gone.")
        assert "gestures" in headline["aside"]
        assert first["label"] == "Tells most"

    def test_before_any_compaction_nothing_is_lost(self):
        (line,) = self.answer_to("lost")
        assert "No compaction stands" in line["text"]
        assert "no compaction 9" in self.answer_to("lost", "9", status=404)

    def test_typed_words_mean_a_question(self):
        first = {
            "Mira Tom": "What does Mira know of Tom?",
            "what does Mira know of Jo": "What does Mira know of Jo?",
            "why did Mira say hook": "Why did Mira say “hook”?",
            "Mira tomorrow": "What will Mira do next, and tomorrow?",
            "what will Mira do": "What will Mira do next, and tomorrow?",
            "Mira compaction": "What did the last compaction of Mira lose?",
            "what did the last compaction of Mira lose?": (
                "What did the last compaction of Mira lose?"
            ),
            "who knows of the bell": "Who knows of “bell”, and from whom?",
            "bell jetty": "Who knows of “bell jetty”, and from whom?",
            "mir": "What will Mira do next, and tomorrow?",
            "Where is Tom?": "Where is Tom?",
            "where is everybody": "Where is everybody?",
            "What did Mira forget?": "What did the last compaction of Mira lose?",
            "Who knows of the bell?": "Who knows of “bell”, and from whom?",
            "why did Mira say “on its hook”?": "Why did Mira say “on its hook”?",
        }
        assert {words: self.offered(words)[0] for words in first} == first
        assert self.offered("Mira yesterday")[0].startswith("What did Mira remember on ")
        assert "Why did Mira say “on its hook”?" in self.offered("“on its hook”")
        assert self.offered("what does she know of Tom", agent=self.mira.id)[0] == (
            "What does Mira know of Tom?"
        )
        assert self.offered("") == []

    def test_a_time_is_read_although_a_question_mark_follows_it(self):
        told = self.offered("What did Mira remember yesterday at 19:30?")[0]
        assert told == self.offered("Mira yesterday 19:30")[0]

    def test_no_line_is_offered_that_was_never_said(self):
        self.ask("Jo went to the pump, where the water is.", "> say Is she where the bell was?")
        assert not any(each.startswith("Why did") for each in self.offered("Where is Jo"))
        assert "Why did Mira say “herrings”?" not in self.offered("Mira herrings")
        (line,) = [
            each for each in self.offered("Mira hook left") if "hook" in each and "say" in each
        ]
        assert line == f"Why did Mira say “{LADLE}”?"

    def test_words_with_one_reading_lead_straight_to_its_page(self):
        mira = self.mira.id
        pages = {
            "jetty": "/agents/fact?q=jetty",
            "Who knows of the bell?": "/agents/fact?q=bell",
            "where is the bell": "/agents/fact?q=bell",
            "What does Mira know of Tom?": f"/agents/ask/of?agent={mira}&of=Tom",
            "Where is Tom": "/agents/world/?who=Tom",
            "Mira tomorrow": f"/agents/ask/next?agent={mira}",
            "where is everybody?": "/agents/world/",
        }
        led = {words: self.web.get("/agents/ask/", {"q": words}) for words in pages}
        assert {words: page.headers.get("Location") for words, page in led.items()} == pages
        for words in ("Mira", "Tom", "Mira Tom", "hook", "and"):
            assert self.web.get("/agents/ask/", {"q": words}).status_code == 200, words

    def test_what_is_about_nobody_in_particular_has_a_short_answer(self):
        def lines(of, about=""):
            found = self.get("/answer", of=of, about=about)["lines"]
            return [(each["label"], each["text"]) for each in found]

        assert ("Mira", f"from Tom: {SECRET}") in lines("who", "the bell")
        assert lines("knows", "Tom")[0] == ("Mira", f"“{SECRET}”")
        place = self.room1.key
        assert lines("where", "tom") == [("Tom", place)]
        assert lines("where")[0][0] == place
        assert lines("where", "Zed") == []
        self.get("/answer", 400, of="next")
        self.get("/answer", 400, of="who")
        self.get("/answer", 404, of="knows", about="Zed")

    def test_the_likeliest_reading_is_answered_on_the_page_of_all(self):
        page = self.web.get("/agents/ask/", {"q": "Tom"}).content.decode()
        assert page.index("What do all agents know of Tom?") < page.index(SECRET)
        assert page.index(SECRET) < page.index("Where is Tom?")

    def test_each_question_leads_to_its_page(self):
        for words in ("Mira Tom", "Mira hook", "Mira yesterday", "Tom", "bell"):
            for offer in self.get("/asked", q=words):
                page = self.web.get(offer["address"])
                assert page.status_code in {200, 302}, offer

    def test_without_a_script_a_page_has_the_answers(self):
        page = self.web.get("/agents/ask/", {"q": "Mira Tom"}).content.decode()
        assert "What does Mira know of Tom?" in page
        assert SECRET in page
        assert page.index("What does Mira know of Tom?") < page.index(SECRET)
        nothing = self.web.get("/agents/ask/", {"q": "and"}).content.decode()
        assert "No agent is named" in nothing
        assert "What did the last compaction of" in nothing  # the questions with pickers
        assert "What did the last compaction of" in self.web.get("/agents/ask/").content.decode()

    def test_players_and_strangers_get_nothing(self):
        for web in (self.client_of(), self.client_of(self.account_named("Pia"))):
            for path in ("asked?q=Mira", f"agents/{self.mira.id}/answer?of=next"):
                assert web.get(f"/agents/api/{path}").status_code == 403
            assert web.get("/agents/ask/", {"q": "Mira Tom"}).status_code == 403
