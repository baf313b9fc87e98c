"""Short answers to what people ask about agents, and which question typed words mean."""

from __future__ import annotations

import calendar
import re
from dataclasses import replace
from datetime import timedelta

from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.books.plan import Plan, PlanState
from keepsake.happening import Person
from keepsake.language.when import When
from tests.world.asked_world import LADLE, NOON, SECRET, AskedWorld


class TestAsked(AskedWorld):
    """What Mira knows, said and lost; and typed words."""

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

    def test_what_she_makes_of_somebody_is_first_and_then_what_was_said_since(self):
        self.ask("I mend the nets of Ostrey.")
        self.mind.books.update_people(self.mind.memory.memory.archive)
        newest = self.mind.memory.memory.archive.last_number
        first = "Tom mends nets, and looks for the bell."
        portrait = f"{first} {'He asks more than he tells. ' * 8}"
        self.mind.books.people.conclude(
            self.tom, lambda page: replace(page, portrait=portrait.strip(), studied=newest)
        )
        self.ask("My goat is called Agnes.")
        self.mind.books.update_people(self.mind.memory.memory.archive)
        lines = self.answer_to("knows", "Tom")
        assert [each["label"] for each in lines][:2] == ["Thinks", "Told in private"]
        assert lines[0]["text"].startswith(first)
        assert lines[0]["text"].endswith("tells. …"), "sentences are whole"
        openly = [each["text"] for each in lines if each["label"] == "Told openly"]
        assert openly[0] == "“My goat is called Agnes.”"

    def test_a_promise_whose_plan_is_done_is_not_shown_as_open(self):
        self.ask("Soup in ten minutes?", "> say Yes.\n> promise Tom, in 10 minutes: soup")
        assert "Promised" in [each["label"] for each in self.answer_to("knows", "Tom")]
        (plan,) = self.mind.books.plans.current
        self.mind.books.plans.set_state(plan, PlanState.DONE)
        assert "Promised" not in [each["label"] for each in self.answer_to("knows", "Tom")]

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

    def test_of_a_long_answer_three_lines_are_seen_on_the_page_and_the_others_unfold(self):
        self.ask("My goat is called Agnes.", "> say So.\n> promise Tom = a bowl of soup")
        self.ask("I mend nets.", "> say So.\n> promise Tom = a loaf")
        assert len(self.answer_to("knows", "Tom")) == 4
        page = self.web.get("/agents/ask/", {"q": "Mira Tom"}).content.decode()
        first = page[page.index("What does Mira know of Tom?") :].partition("</section>")[0]
        seen, _, folded = first.partition('<details class="more-lines">')
        assert seen.count("<dt>") == 3
        assert folded.count("<dt>") == 1
        assert "<summary>1 more line</summary>" in folded

    def test_a_line_stands_once_whatever_parts_of_it_tell(self):
        self.ask(
            "My brother found the ladle beneath a sail in Ostrey, that the miller of Bree had torn "
            "in the gale of March. He hung his nets in the loft of a chandler, where two owls and "
            "a marten nest each summer, and none of them pays."
        )
        texts = [each["whole"] or each["text"] for each in self.answer_to("knows", "Tom")]
        assert len([each for each in texts if "miller" in each]) == 1

    def test_of_what_a_note_tells_the_rest_of_a_line_is_not_told(self):
        note = "Tom carved spoons in Bree, and burnt the last"
        line = "Evening. I carved spoons in Bree, and burnt the last."
        self.ask(line, f"> remember {note}")
        texts = [each["text"] for each in self.answer_to("knows", "Tom")]
        assert note in texts
        assert not [each for each in texts if "Evening" in each]

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

    def test_of_what_a_compaction_lost_what_others_told_is_counted_first(self):
        self.ask("The weir of Ostrey sings at night.", "> pose nods")
        archive = self.mind.memory.memory.archive
        last = archive.last_number
        summary = Summary(Tier.RECENT, 1, last, "A quiet evening.", "a model", NOON, sources=((),))
        archive.append(SummaryState(None, summary, last, 1, NOON).compaction_line(1))
        headline, first, *_ = self.answer_to("lost", "1")
        assert headline["text"].endswith("things that others told or gave are gone.")
        of_all = re.search(r"gestures: (\d+) of all (\d+) memories", headline["aside"])
        gone, every = map(int, of_all.groups())
        assert 0 < gone <= every == last
        assert first["label"] == "Tells most"

    def test_before_any_compaction_nothing_is_lost(self):
        (line,) = self.answer_to("lost")
        assert "No compaction stands" in line["text"]
        assert "no compaction 9" in self.answer_to("lost", "9", status=404)

    def test_a_time_beside_other_words_is_one_of_them(self):
        self.ask("When do you wake me?", "> say Half past five, with tea.")
        assert self.offered("Mira half past five with tea")[0].startswith("Why did Mira say")
        assert self.offered("Mira half past five")[0].startswith("What did Mira remember")

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
            "why did Mira say two stools": "Why did Mira say “two stools”?",
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

    def test_a_day_of_the_week_is_the_last_one_that_was_or_the_coming_one(self):
        for name in calendar.day_name:
            then, ahead, *_ = self.offered(f"Mira {name}")
            assert then.startswith(f"What did Mira remember on {name[:3]} ")
            assert ahead == "What will Mira do next, and tomorrow?"
            page = self.web.get("/agents/ask/", {"q": f"Mira {name}"})
            assert page.status_code == 200, "either may be meant"
        assert "remember" not in self.offered("Mira morgen")[0]

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
