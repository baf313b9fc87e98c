"""The panel "What do you want to know?": every question leads to its answer, without JavaScript."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

from django.template.loader import render_to_string
from django.utils.timezone import localtime

from keepsake.agent.plans.past_plans import PastPlan
from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.message_types import MessageType
from keepsake.books.plan import Plan, PlanState
from keepsake.happening import ME, Speech
from keepsake.paths import UNTIL, ZONE_FILE
from keepsake.ports import FixedClock
from keepsake.web.questions.said import Because
from tests.world.web_world import WebWorld

HOSTILE = "<script>alert(1)</script>"
LADLE = "On its hook, where Jo left it."
JUG = "Tom broke it, Jo."


class TestQuestions(WebWorld):
    """Tom and Jo ask Mira, and she answers each; she whispers to Tom. Ada is there, too."""

    def setUp(self):
        super().setUp()
        self.ada = self.add_agent("Ada")
        self.ada.db.paused = True
        self.jo = self.add_player(7, "Jo")
        self.ask("Where is the ladle?", f"> say {LADLE}")
        self.ask("Who broke the jug?", f"> say {JUG}", who=self.jo)
        self.ask(f"Say {HOSTILE}!", f"> whisper Tom = {HOSTILE}")

    def page(self, address, status=200, web=None, **query):
        """Return the text of a page, as the builder or another client gets it."""
        answer = (web or self.web).get(f"/agents/{address}", query)
        assert answer.status_code == status, answer.content
        return answer.content.decode()

    def way(self, address, **query):
        """Return where a question leads: path, query and anchor."""
        answer = self.web.get(f"/agents/ask/{address}", query)
        assert answer.status_code == 302, answer.content
        parts = urlsplit(answer["Location"])
        found = {name: value for name, (value,) in parse_qs(parts.query).items()}
        return parts.path, found, parts.fragment

    def test_the_start_page_asks_all_six_and_says_who_has_no_compaction(self):
        page = self.page("")
        for action in ("ask/said", "ask/of", "ask/lost", "fact", "ask/then", "ask/next"):
            assert f'<form action="/agents/{action}"' in page
        assert page.count(">Ada</option>") == 4
        assert "Ada (none yet)</option>" in page
        for name in ("Mira", "Ada", "Tom", "Jo"):
            assert f'<option value="{name}">' in page

    def test_pickers_begin_with_the_agent_that_a_player_talked_with_last(self):
        self.ask("Good evening.")
        page = self.web.get("/agents/").content.decode()
        assert f'<option value="{self.mira.id}" selected>Mira</option>' in page
        assert "what Mira lost, why Mira said …" in page

    def test_an_agents_page_asks_about_the_agent(self):
        page = self.page(f"{self.mira.id}/")
        assert page.count(f'<input type="hidden" name="agent" value="{self.mira.id}">') == 6
        assert '<select name="agent"' not in page

    def test_what_she_said_to_somebody_comes_before_what_she_said_of_them(self):
        page = self.page("ask/said", agent=self.mira.id, words="to Tom")
        to_tom, others = page.split("With these words, to others")
        assert LADLE in to_tom
        assert JUG not in to_tom
        assert JUG in others
        number = next(
            each["memory"]["number"]
            for each in self.get("/search", by="words", q="hook", kind="act")["hits"]
        )
        assert f'href="/agents/{self.mira.id}/#why/m{number}"' in to_tom

    def test_the_newest_line_says_what_led_to_it_and_the_others_what_set_them_off(self):
        self.ask("And the spoon?", "> say Under the ladle, Tom. | he will look for it")
        page = self.page("ask/said", agent=self.mira.id, words="to Tom")
        newest, older = page.split("Under the ladle, Tom.")[1].split(LADLE)
        assert "Set off by" in newest
        assert "And the spoon?" in newest
        assert "he will look for it" in newest
        assert "set off by: <bdi>Tom says to you, &quot;Where is the ladle?&quot;" in older
        to_jo = self.page("ask/said", agent=self.mira.id, words="Jo")
        assert to_jo.count("Who broke the jug?") == 1

    def test_a_promise_of_the_prompt_to_whom_she_answers_is_among_the_reasons(self):
        self.ask("Keep me a bed?", "> promise Jo = keep a bed for Jo", who=self.jo)
        self.ask("Is it kept?", "> say It is, Jo.", who=self.jo)
        said = self.page("ask/said", agent=self.mira.id, words="It is")
        assert "<dt>Promised</dt><dd><bdi>promise Jo: keep a bed for Jo</bdi>" in said
        why = self.get(self.of_mira("/why"))
        assert [each["what"]["objects"] for each in why["promises"]] == [["keep a bed for Jo"]]

    def test_the_newest_line_quotes_what_it_has_its_words_from(self):
        self.ask("My brother Edwin mends nets in Ostrey.", "> say Does he?")
        self.ask("Where is he?", "> say In Ostrey, mending nets.")
        said = self.page("ask/said", agent=self.mira.id, words="Ostrey")
        assert "<dt>Has words from</dt><dd><bdi>" in said
        assert "My brother Edwin mends nets in Ostrey." in said.replace("&quot;", '"')

    def test_own_words_that_the_newest_line_rests_on_say_who_spoke(self):
        self.ask("What is in the attic?", "> say Seven copper kettles hang in the attic.")
        self.ask("What hangs there?", "> say Seven copper kettles, as I said.")
        said = self.page("ask/said", agent=self.mira.id, words="as I said")
        told = "<dt>Has words from</dt><dd><bdi>Mira says to Tom, &quot;Seven copper kettles hang"
        assert told in said

    def test_the_newest_line_says_what_nobody_told_her(self):
        self.char1.execute_cmd("whisper Ada = I tune violins and pianos.")
        self.pass_time(6)
        self.ask("Good evening.", "> say You tune violins and pianos, I hear.")
        said = self.page("ask/said", agent=self.mira.id, words="violins")
        assert "Nobody told <bdi>Mira</bdi> in these words, as far as its prompt says." in said
        assert "From the memory of <bdi>Ada" in said
        assert "“tune”, “violins”, “pianos”" in said

    def test_what_was_done_for_a_plan_names_the_plan(self):
        def shown(**known):
            return render_to_string("keepsake/because.html", {"because": Because(**known)})

        bake = PastPlan(1, "tomorrow 9:00: bake", PlanState.DOING, private=False, what="bake")
        told = shown(trigger="plan", plan=bake)
        assert "<dt>Set off by its own plan</dt><dd><bdi>tomorrow 9:00: bake</bdi></dd>" in told
        assert "keeps it private" in shown(plan=replace(bake, private=True))
        dated = replace(bake, line="2026-11-29 09:00, at The Inn: bake")
        assert "<bdi>29 Nov, 09:00, at The Inn: bake</bdi>" in shown(plan=dated)
        by_hand = replace(bake, line="2026-13-29 09:00: bake")
        assert "<bdi>2026-13-29 09:00: bake</bdi>" in shown(plan=by_hand)
        assert "<dd><bdi>idle</bdi></dd>" in shown(trigger="idle")
        assert "no longer known" in shown()

    def test_every_line_that_was_said_for_a_plan_names_it(self):
        kept = frozenset({identity_of(self.char1)})
        soup = self.mind.books.plans.add(Plan(what="eat soup with Tom", private=kept))
        for words in ("Here is the soup.", "Here is the salt."):
            own = Speech(speaker=ME, words=words, shown=f"say {words}")
            self.mind.memory.remember(own, place="The Inn", plan=soup.number)
        page = self.page("ask/said", agent=self.mira.id, words="Here is")
        newest, older = page.split("the salt.")[1].split("the soup.”")
        assert "Set off by its own plan" in newest
        assert "no longer known" not in page
        flag = '<span class="flag private">keeps it private</span>'
        assert f"set off by its plan: {flag} <bdi>eat soup with Tom</bdi>" in older

    def test_without_an_event_log_a_line_for_a_plan_has_no_other_cause(self):
        soup = self.mind.books.plans.add(Plan(what="eat soup with Tom"))
        asked = next(
            each["memory"]["number"]
            for each in self.get("/search", by="words", q="Where is the ladle")["hits"]
        )
        own = Speech(speaker=ME, words="Here is the soup.", shown="say Here is the soup.")
        self.mind.memory.remember(own, place="The Inn", plan=soup.number, rests_on=(asked,))
        page = self.page("ask/said", agent=self.mira.id, words="Here is the soup")
        assert "Set off by its own plan" in page
        assert "Where is the ladle?" not in page

    def test_without_an_event_log_the_archive_says_what_a_line_answers(self):
        for path in self.services.places.events.rglob("*.jsonl"):
            path.unlink()
        page = self.page("ask/said", agent=self.mira.id, words="to Tom")
        newest = page.split(LADLE)[1]
        assert "Where is the ladle?" in newest
        assert "no longer known" not in newest

    def test_a_line_by_rule_says_that_no_model_was_asked(self):
        own = Speech(speaker=ME, words="Mind the step.", shown="say Mind the step.")
        self.mind.memory.remember(own, place="The Inn", event=MessageType.SCENE)
        page = self.page("ask/said", agent=self.mira.id, words="Mind the step")
        assert "no model was asked" in page

    def test_what_she_said_is_found_by_its_words(self):
        page = self.page("ask/said", agent=self.mira.id, words="hook")
        assert LADLE in page
        assert JUG not in page
        assert "has said nothing with all of these words" in self.page(
            "ask/said", agent=self.mira.id, words="herrings"
        )
        assert "Ada has said nothing yet" in self.page("ask/said", agent=self.ada.id)

    def test_what_she_whispered_is_marked_and_stays_words(self):
        page = self.page("ask/said", agent=self.mira.id)
        assert HOSTILE not in page
        assert "&lt;script&gt;alert(1)" in page
        assert page.count('<span class="flag private">whispered</span>') == 1

    def test_a_person_leads_to_what_she_knows_of_them_and_a_thing_to_her_memory(self):
        mira = str(self.mira.id)
        tom = {"key": identity_of(self.char1), "by": mira}
        assert self.way("of", agent=mira, of="tom") == ("/agents/person", tom, "")
        ladle = {"agent": mira, "q": "the ladle", "of": "1"}
        assert self.way("of", agent=mira, of="the ladle") == ("/agents/search/", ladle, "")

    def test_somebody_whom_she_does_not_know_is_searched(self):
        self.add_agent("Ed").location = None
        path, query, _ = self.way("of", agent=self.mira.id, of="Ed")
        assert (path, query["q"]) == ("/agents/search/", "Ed")

    def test_compaction_and_plans_are_opened(self):
        path = f"/agents/{self.mira.id}/"
        assert self.way("lost", agent=self.mira.id) == (path, {}, "compactions/last")
        assert self.way("next", agent=self.mira.id) == (path, {}, "plans")

    def test_a_time_is_said_as_people_say_it_by_the_worlds_clock(self):
        newest = self.mind.memory.memory.context().window[-1].time
        self.services.clock = FixedClock(newest + timedelta(days=2))
        there = localtime(newest)
        assert self.way("then", agent=self.mira.id, at="7:30 pm")[2] == "memory/@7%3A30%20pm"
        of_mira = self.of_mira("/as-of")
        hour = self.get(of_mira, when=f"{there:%H:%M:%S}")
        assert abs(datetime.fromisoformat(hour["time"]) - newest) < timedelta(seconds=1)
        day = self.get(of_mira, when=f"{there:%A}")
        ended = localtime(datetime.fromisoformat(day["time"]))
        assert f"{ended:%Y-%m-%d %H:%M:%S}" == f"{there:%Y-%m-%d} 23:59:59"
        refused = self.get(of_mira, 400, when="the cup")["error"]
        assert "'the cup' is no time in the past" in refused

    def test_a_time_that_is_not_said_is_yesterday_evening(self):
        offered = self.way("then", agent=self.mira.id, evening="2026-05-01", at="")[2]
        assert offered == "memory/@2026-05-01"
        assert self.way("then", agent=self.mira.id)[2] == "memory"

    def test_before_the_world_changed_its_zone_its_clock_was_another(self):
        told = self.mind.memory.memory.archive.read(1, 1)[0].time
        changed = told + timedelta(days=1)
        agents = self.services.places.agents
        (agents / ZONE_FILE).write_text(f"UTC\nAsia/Tokyo{UNTIL}{changed.isoformat()}\n")
        page = self.page("ask/said", agent=self.mira.id)
        assert f'data-zones="{int(changed.timestamp())}=Asia/Tokyo"' in page
        assert "Asia/Tokyo).</footer>" in page  # the foot says until when the world lived by it
        shown = told.astimezone(ZoneInfo("Asia/Tokyo"))
        assert f"{shown:%a} {shown.day} {shown:%b, %H:%M}" in page
        was = self.get(self.of_mira("/as-of"), when=f"{shown:%Y-%m-%d %H:%M:%S}")
        then = datetime.fromisoformat(was["time"])
        assert abs(then - told) < timedelta(seconds=1)

    def test_yesterday_evening_is_offered_as_soon_as_there_is_memory_of_it(self):
        newest = self.mind.memory.memory.context().window[-1].time
        assert self.offered(localtime(newest))
        self.services.clock = FixedClock(newest + timedelta(days=2))
        self.ask("Are you still here?")
        assert self.offered((localtime(newest) + timedelta(days=1)).replace(hour=20, minute=0))

    def offered(self, moment):
        """Whether the panel offers a moment, to the minute."""
        return f'value="{moment:%Y-%m-%d %H:%M}:' in self.page("")

    def test_an_unknown_agent_is_refused_with_the_panel(self):
        for address in ("said", "of", "lost", "next", "then"):
            for given in ("99999", "x" * 300, ""):
                page = self.page(f"ask/{address}", 404, agent=given)
                assert "There is no agent" in page
                assert "What do you want to know?" in page

    def test_players_and_strangers_get_nothing(self):
        for web in (self.client_of(), self.client_of(self.account_named("Pia"))):
            for address in ("said", "of", "lost", "next", "then"):
                page = self.page(f"ask/{address}", 403, web, agent=self.mira.id)
                assert LADLE not in page

    def test_search_is_in_the_memory_of_one_agent(self):
        hits = self.get("/search", by="words", q="ladle", agent=self.ada.id)["hits"]
        assert {each["agent"] for each in hits} == {"Ada"}
        assert self.get("/search", by="words", agent=self.ada.id)["hits"], (
            "the newest, without words"
        )
        assert "There is no agent 99999" in str(self.get("/search", 404, q="ladle", agent=99_999))

    def test_her_notes_on_somebody_are_among_what_she_knows(self):
        self.post(self.of_mira("/note"), body={"title": "Guests", "text": "Jo hates aniseed."})
        (mira,) = (
            each for each in self.get("/person", name="Jo")["agents"] if each["agent"] == "Mira"
        )
        assert [each["text"] for each in mira["notes"]] == ["Jo hates aniseed."]
        assert not any(each["notes"] for each in self.get("/person", name="Tom")["agents"])

    def test_her_usual_day_is_said(self):
        self.mira.db.day = [{"at": "9-24", "in": self.room1, "does": ["scrubs the tables"]}]
        usual = self.get(self.of_mira("/day"))["usual"]
        assert usual == f"9-24 at {self.room1.key}: scrubs the tables"
        del self.mira.db.day
        nothing = self.get(self.of_mira("/day"))
        assert (nothing["usual"], nothing["now"], nothing["next"]) == ("", None, None)
        assert [each["parts"] for each in nothing["dates"]] == [[], []]

    def test_today_and_tomorrow_are_a_time_line_each_with_the_plans_at_their_times(self):
        saturday = datetime(2026, 5, 9, 12).astimezone()  # the day after is no market day
        self.services.clock = FixedClock(saturday)
        self.mira.db.day = [
            {"at": "8-10", "in": self.room2, "when": ["market day"], "does": ["sells pies"]},
            {"at": "9-20", "in": self.room1, "does": ["scrubs the tables"]},
            {"at": "20-9", "in": self.room2, "does": ["counts the cups"]},
        ]
        plan = "- [ ] 2026-05-10 15:00, the Inn: show the ladle"
        body = {"of": "plans", "file": "plans.md", "text": plan, "was": ""}
        self.post(self.of_mira("/edit-file"), body=body)
        day = self.get(self.of_mira("/day"))
        assert day["now"]["does"] == ["scrubs the tables"]
        assert localtime(datetime.fromisoformat(day["next"]["since"])).hour == 20
        inn = self.room1.key
        room2 = self.room2.key
        (planned,) = self.get(self.of_mira("/plans"))
        assert [[self.told(part) for part in each["parts"]] for each in day["dates"]] == [
            [
                ("0-8", room2, "counts the cups"),
                ("8-10", room2, "sells pies"),
                ("10-20", inn, "scrubs the tables"),
                ("20-9", room2, "counts the cups"),
            ],
            [
                ("9-20", inn, "scrubs the tables"),
                ("15", planned["place"], "show the ladle"),
                ("20-9", room2, "counts the cups"),
            ],
        ]
        assert day["dates"][0]["parts"][1]["only_if"] == ["market day"]

    def test_what_she_said_about_tomorrow_stands_beside_her_plans(self):
        self.ask("What of the jug?", "> say Tomorrow I shall mend it.")
        said = self.get(self.of_mira("/day"))["said"]
        assert [each["what"]["words"] for each in said] == ["Tomorrow I shall mend it."]

    def test_a_plan_says_who_asked_for_it(self):
        self.ask("Would you bake me a pie tomorrow?", "> plan tomorrow 9:00: bake a pie")
        (plan,) = self.get(self.of_mira("/plans"))
        assert plan["what"] == "bake a pie"
        assert plan["cause"]["what"]["words"] == "Would you bake me a pie tomorrow?"
        self.ask("Never mind the pie.", "> cancel bake a pie: nobody wants it")
        (ended,) = self.get(self.of_mira("/plans"))
        assert ended["state"] == "dropped"
        assert ended["cause"]["what"]["words"] == "Would you bake me a pie tomorrow?"
        (listed,) = self.get("/plans", ended="true")
        assert listed == ended

    def test_a_plan_is_asked_for_by_its_person_though_the_act_answers_somebody_else(self):
        asked = "Mira, would you hear the brass bell ring beside the old lighthouse?"
        self.say(asked, who=self.jo)
        self.mira.db.paused = False
        plan = "> plan tomorrow 9:00, Jo: hear the brass bell ring beside the old lighthouse"
        self.ask("Well, the cake?", plan)
        (found,) = self.get(self.of_mira("/plans"))
        assert found["whom"] == "Jo"
        assert found["cause"]["what"]["words"] == asked

    def test_a_plan_whose_time_has_come_is_due_until_it_ends(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)
        self.mira.db.day = [{"at": "9-20", "in": self.room2, "does": ["scrubs the tables"]}]
        lines = ["- [>] 2026-05-09 11:50, the Inn: eat soup", "- [ ] 2026-05-09 11:55: count coins"]
        text = "\n".join([*lines, "- [ ] 2026-05-09 15:00: swim"])
        body = {"of": "plans", "file": "plans.md", "text": text, "was": ""}
        self.post(self.of_mira("/edit-file"), body=body)
        day = self.get(self.of_mira("/day"))
        assert [(each["does"], each["begun"]) for each in day["due"]] == [
            (["eat soup"], True),
            (["count coins"], False),
        ]
        assert day["next"]["does"] == ["swim"]
        # Where she is, is a fact; her habit would have her elsewhere.
        assert day["place"] == self.mira.location.key != day["now"]["place"]

    def test_a_private_plan_that_was_also_asked_for_aloud_is_no_secret(self):
        secret = "- [ ] 2026-05-09 11:50: count coins (plan 1, memory 3, only for k"
        text = f'{secret})\n{secret.replace("1,", "2,")}, aloud in memory 2: "Jo says: count")'
        body = {"of": "plans", "file": "plans.md", "text": text, "was": ""}
        self.post(self.of_mira("/edit-file"), body=body)
        assert [each["private"] for each in self.get(self.of_mira("/plans"))] == [
            "keeps it to itself",
            "",
        ]

    def told(self, part):
        """Return a part of a day: its hours, its place and what is done."""
        ends = [part["since"], part["until"]]
        hours = [str(localtime(datetime.fromisoformat(each)).hour) for each in ends if each]
        return "-".join(hours), part["place"], part["does"][0]
