"""The dashboard's API: its answers about agents, and its refusals."""

from __future__ import annotations

import gzip
import json
import re
from itertools import pairwise

import openapi_spec_validator

from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.plan import Plan, PlanState
from keepsake.errors import ArchiveUnwritable
from keepsake.happening import ME, Deed
from keepsake.paths import REPOSITORY
from keepsake.tasks.forms.form import PromptLimits
from tests.fakes.model_server import Reply
from tests.world.agents_world import SMALL_WINDOWS
from tests.world.web_world import API, DOING, READING, WebWorld


class TestAtAGlance(WebWorld):
    """Mira has answered Tom; Ada is paused."""

    def setUp(self):
        super().setUp()
        self.ada = self.add_agent("Ada")
        self.ada.db.paused = True
        self.ask("Good evening.", "> say Good evening, Tom.")

    def mira_row(self):
        return self.get(self.of_mira())

    def test_all_agents_are_listed_by_name(self):
        found = self.get("/agents")
        assert [each["name"] for each in found["agents"]] == ["Ada", "Mira"]
        assert found["log_problem"] == ""
        assert found["agents"][1] == self.mira_row()

    def test_a_large_answer_is_compressed_for_a_browser(self):
        plain = self.web.get(f"{API}/openapi.json")
        packed = self.web.get(f"{API}/openapi.json", HTTP_ACCEPT_ENCODING="gzip, br")
        assert "Content-Encoding" not in plain.headers
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.content) == plain.content
        assert len(packed.content) < len(plain.content) / 4

    def test_an_agent_is_shown_with_its_place_and_its_last_act(self):
        mira = self.mira_row()
        assert (mira["id"], mira["state"], mira["place"]) == (self.mira.id, "idle", "The Inn")
        assert mira["last_act"]["what"]["words"] == "Good evening, Tom."
        assert mira["last_words"]["number"] == mira["last_act"]["number"]
        assert (mira["ended"], mira["failed"], mira["waiting"]) == (1, 0, None)
        assert mira["problem"] == ""

    def test_an_agent_is_shown_with_its_memories_and_its_budget(self):
        mira = self.mira_row()
        assert 0 < mira["used"] <= mira["budget"]
        assert mira["memories"] == self.mind.memory.memory.tiers.last_number
        assert mira["next_due"] == 129

    def test_the_budget_is_what_the_model_can_read(self):
        limits = self.services.limits
        self.services.limits = PromptLimits.of_conversation(7000)
        assert self.mira_row()["budget"] == 7000
        self.services.limits = limits

    def test_events_are_given_from_the_last_known_one_on(self):
        new = self.get("/events", agent=self.mira.id)
        said = next(each["remembered"] for each in new["events"] if each.get("of") == "act")
        assert said["what"]["words"] == "Good evening, Tom."
        assert said["happening"]
        assert self.get("/events", after=new["last"]) == {**new, "events": []}

    def test_a_room_is_shown_with_its_agents_and_players(self):
        rooms = self.get("/map")["rooms"]
        inn = next(each for each in rooms if each["name"] == "The Inn")
        assert inn["agents"] == [[self.ada.id, "Ada"], [self.mira.id, "Mira"]]
        assert inn["players"] == ["Tom"]

    def test_a_thought_that_failed_is_a_problem(self):
        self.fake.always("/api/chat", Reply(status=500))
        self.ask("Good evening.", seconds=30)
        mira = self.mira_row()
        assert mira["failed"] >= 1
        assert mira["problem"]

    def test_a_memory_that_cannot_be_written_is_a_problem(self):
        self.mind.memory.problem = ArchiveUnwritable("the disk is full", "Free some space")
        mira = self.mira_row()
        assert "disk is full" in mira["problem"]
        assert mira["state"] == "memory cannot be written"


class TestTiers(WebWorld):
    """Mira has heard so much that her memories were summarised several times."""

    def setUp(self):
        super().setUp()
        (self.services.places.config / "memory_compaction.md").write_text(SMALL_WINDOWS)
        self.add_memories(40)
        self.tiers = self.get(self.of_mira("/tiers"))
        self.total = self.mind.memory.memory.tiers.last_number

    def test_the_tiers_follow_each_other_without_a_gap(self):
        longterm = self.tiers["longterm"]
        recent = self.tiers["recent"]
        assert (self.tiers["first"], self.tiers["total"]) == (1, self.total)
        assert longterm["first"] == 1
        assert longterm["last"] + 1 == recent["first"]
        assert recent["last"] + 1 == self.tiers["window_first"]
        assert recent["tokens_after"] > 0

    def test_all_memories_can_be_read_whatever_their_tier(self):
        found = self.get(self.of_mira("/memories"), first=1, last=self.total)
        assert [each["number"] for each in found] == list(range(1, self.total + 1))

    def test_every_memory_was_summarised_once(self):
        made = self.get(self.of_mira("/compactions"), limit=100)[::-1]
        folded = [each["covered"] for each in made if each["covered"]]
        assert (folded[0][0], folded[-1][1]) == (1, self.tiers["window_first"] - 1)
        assert all(first <= last for first, last in folded)
        for (_, last), (first, _) in pairwise(folded):
            assert first == last + 1

    def test_a_compaction_is_shown_with_its_texts(self):
        newest = self.get(self.of_mira("/compactions"), limit=1)[0]
        assert newest["after"]["longterm"]["text"]
        assert newest["undone"] is None

    def test_compactions_are_given_page_by_page(self):
        whole = self.get(self.of_mira("/compactions"), limit=100)
        page = self.get(self.of_mira("/compactions"), limit=3, before=whole[2]["number"])
        assert page == whole[3:6]


class TestLooking(WebWorld):
    """The API's answers."""

    def test_a_memory_has_the_fields_of_what_happened(self):
        self.replies = ["> emote nods.\n> whisper Tom = The key is under the mat.", "> wait"]
        self.char1.execute_cmd("talk Mira Good evening.")
        self.pass_time(1.5)
        heard, nod, whisper = self.get(self.of_mira("/memories"))[-3:]
        tom = {"name": "Tom", "id": identity_of(self.char1)}
        me = {"name": "you", "id": "me"}
        assert (heard["form"], heard["kind"], heard["confidants"]) == ("speech", "perception", None)
        shown = 'Tom says to you, "Good evening."'
        said = {"speaker": tom, "words": "Good evening.", "to": [me], "manner": "say"}
        assert heard["what"] == {**said, "shown": shown}
        assert (nod["form"], nod["what"]["gesture"]) == ("pose", "nods.")
        whispered = {"speaker": me, "words": "The key is under the mat.", "to": [tom]}
        assert whisper["what"].items() >= {**whispered, "manner": "whisper"}.items()
        assert whisper["confidants"] == [tom["id"]]
        events = self.get("/events", agent=self.mira.id)["events"]
        told = [each["remembered"]["what"] for each in events if "remembered" in each]
        assert told[-3:] == [heard["what"], nod["what"], whisper["what"]]

    def test_the_prompt_as_it_was_sent(self):
        assert self.get(self.of_mira("/prompt"))["at"] is None
        self.replies = ["> say Good evening, Tom.", "> wait"]
        self.char1.execute_cmd("talk Mira Good evening.")
        self.pass_time(1.5)
        found = self.get(self.of_mira("/prompt"))
        sent = self.prompts()[-1]
        assert found["trigger"] == "addressed: Tom"
        assert found["answer"] == "> say Good evening, Tom."
        assert sum(found["sections"].values()) == self.mind.thinker.log.sent.costs.used
        shown = "\n".join(each["text"] for each in found["sent"])
        assert [*filter(None, shown.split("\n"))] == [*filter(None, sent.split("\n"))]
        assert "who it is" in {each["name"] for each in found["sent"]} & {*found["sections"]}

    def test_why_it_did_what_it_did(self):
        assert "not done anything" in self.get(self.of_mira("/why"), 404)["error"]
        self.ask("Good evening.", "> say Good evening, Tom. | He is wet.")
        why = self.get(self.of_mira("/why"), n=1)
        assert (why["command"], why["reason"]) == ("say Good evening, Tom.", "He is wet.")
        assert (why["trigger"], why["thought"]["source"]) == ("addressed", "Tom")
        assert why["cause"]["text"] == 'Tom says to you, "Good evening."'
        assert why["act"]["kind"] == "act"
        assert why["missing"] == []
        assert why["thought"]["outcome"] == "acted"

    def test_why_has_the_plans_that_stood_in_the_prompt(self):
        plans = self.mind.books.plans
        bees = plans.add(Plan(what="tend the bees"))
        plans.set_state(plans.add(Plan(what="mend the roof")), PlanState.DROPPED)
        self.ask("Good evening.", "> say Good evening, Tom.")
        plans.set_state(bees, PlanState.DONE)
        plans.add(Plan(what="sing"))
        why = self.get(self.of_mira("/why"), n=1)
        bare = {"aloud": False, "confidants": [], "since": 0, "whom": ""}
        words = {"what": "tend the bees", "line": "tend the bees", **bare}
        assert why["plans"] == [{"number": bees.number, "state": "open", "private": False, **words}]
        assert why["plan"] is None
        assert not why["by_rule"]

    def test_why_says_of_which_whispers_the_prompt_had_only_that_they_were_whispered(self):
        self.replies = ["I will keep it.", "> wait"]
        self.char1.execute_cmd("whisper Mira = My brother forged the harbour seal.")
        self.pass_time(6)
        archive = self.mind.memory.memory.archive
        told = [each.number for each in archive.read(1, 99) if each.confidants is not None]
        assert len(told) == 2
        self.char2.location = self.char1.location
        self.replies = ["> say Good evening, both.", "> wait"]
        self.char1.execute_cmd("talk Mira Good evening.")
        self.pass_time(6)
        aloud = self.get(self.of_mira("/why"), n=1)
        assert aloud["act"]["what"]["words"] == "Good evening, both."
        assert aloud["window"][0] <= told[0]
        assert aloud["masked"] == told
        self.replies = ["> whisper Tom = I know of the seal.", "> wait"]
        self.char1.execute_cmd("whisper Mira = Do you know it still?")
        self.pass_time(6)
        whispered = self.get(self.of_mira("/why"), n=1)
        assert whispered["act"]["what"]["words"] == "I know of the seal."
        assert whispered["masked"] == []

    def test_why_says_which_words_of_an_act_stand_nowhere_in_its_prompt(self):
        self.ask("The ferry is late.", "> say The ferry has forty pianos.")
        assert self.get(self.of_mira("/why"), n=1)["unheld"] == ["forty", "pianos"]
        self.ask("The ferry is late.", "> say The ferry is late.")
        assert self.get(self.of_mira("/why"), n=1)["unheld"] == []

    def test_why_says_which_lines_of_the_prompt_an_act_has_its_words_from(self):
        self.ask("My brother Edwin mends nets in Ostrey.", "> say Does he?")
        self.ask("Where is he?", "> say In Ostrey, mending nets.")
        why = self.get(self.of_mira("/why"), n=1)
        (ground,) = why["grounds"]
        assert ground["memory"]["what"]["words"] == "My brother Edwin mends nets in Ostrey."
        assert ground["shared"] == ["Ostrey", "mending", "nets"]
        assert why["elsewhere"] is None

    def test_why_says_who_heard_what_nobody_told_the_agent(self):
        ada = self.add_agent("Ada")
        ada.db.paused = True
        self.char1.execute_cmd("whisper Ada = I tune violins and pianos.")
        self.pass_time(6)
        self.ask("Good evening.", "> say You tune violins and pianos, I hear.")
        why = self.get(self.of_mira("/why"), n=1)
        found = why["elsewhere"]
        assert (found["id"], found["agent"]) == (ada.id, "Ada")
        assert found["memory"]["what"]["words"] == "I tune violins and pianos."
        assert found["shared"] == ["tune", "violins", "pianos"]

    def test_why_of_an_act_by_the_number_of_its_memory(self):
        self.ask("Good evening.", "> say Good evening, Tom. | He is wet.")
        why = self.get(self.of_mira("/why"), n=1)
        number = why["act"]["number"]
        assert self.get(self.of_mira("/why"), memory=number) == why
        assert "no act" in self.get(self.of_mira("/why"), 404, memory=number - 1)["error"]

    def test_why_of_an_act_that_another_agent_perceived(self):
        self.ada = self.add_agent("Ada")
        self.ask("Good evening.", "> say Good evening, Tom. | He is wet.")
        why = self.get(self.of_mira("/why"), n=1)
        heard = self.get(f"/agents/{self.ada.id}/memories")[-1]
        assert heard["kind"] == "perception"
        page = self.web.get(f"/agents/{self.ada.id}/").content.decode()
        numbers = re.search('id="agent-numbers"[^>]*>(.*?)</script>', page)
        assert json.loads(numbers[1])[heard["source_id"]] == self.mira.id
        assert self.get(self.of_mira("/why"), happening=heard["happening"]) == why
        of_ada = f"/agents/{self.ada.id}/why"
        refused = self.get(of_ada, 404, happening=heard["happening"])["error"]
        assert "Ada remembers no act of its own" in refused

    def test_an_act_that_ends_a_plan_by_its_number_has_the_words_of_the_plan(self):
        plans = self.mind.books.plans
        bees = plans.add(Plan(what="tend the bees"))
        roof = plans.add(Plan(what="mend the roof"))
        self.ask("Good evening.", f"> done {bees.number}\n> cancel {roof.number}: It rains.")
        plans.path.unlink()  # the archive still has them
        acts = [each for each in self.get(self.of_mira("/memories")) if each["kind"] == "act"]
        assert [each["plan_words"] for each in acts] == ["tend the bees", "mend the roof"]
        assert self.get(self.of_mira("/why"), n=2)["act"]["plan_words"] == "tend the bees"

    def test_the_last_act_has_the_words_of_its_plan_but_not_of_a_private_one(self):
        plans = self.mind.books.plans
        bees = plans.add(Plan(what="tend the bees"))
        secret = plans.add(Plan(what="hide the ring", private=frozenset({"7-20260101"})))
        self.ask("Good evening.", f"> done {bees.number}")
        assert self.get(self.of_mira())["last_act"]["plan_words"] == "tend the bees"
        told = self.get("/events", agent=self.mira.id)["events"]
        assert "tend the bees" in [
            each["remembered"]["plan_words"] for each in told if "remembered" in each
        ]
        self.mind.memory.remember(
            Deed(actor=ME, verb="done", objects=(str(secret.number),), shown="done 2")
        )
        assert self.get(self.of_mira())["last_act"]["plan_words"] == ""
        assert self.get(self.of_mira("/memories"))[-1]["plan_words"] == ""

    def test_every_page_has_the_button_that_logs_out(self):
        pages = ["", "fact", "live", "person", "compare", "tokens", "search/", "world/"]
        for page in [*pages, "mine/", f"{self.mira.id}/", "nothing/here"]:
            text = self.web.get(f"/agents/{page}").content.decode()
            assert text.count("Log out</button>") == 1, page
            assert text.count('action="/auth/logout/"') == 1, page

    def test_the_schema_is_valid_and_the_one_in_the_docs(self):
        told = self.web.get(f"{API}/openapi.json").json()
        openapi_spec_validator.validate(told)
        kept = (REPOSITORY / "docs" / "openapi.json").read_text(encoding="utf-8")
        assert json.loads(kept) == told, "django-admin export_openapi_schema: keepsake/web/api.py"

    def test_bad_parameters_are_refused_with_the_cure(self):
        for path, cure in (
            ("/memories?first=0", "first: Input should be greater than or equal to 1"),
            (f"/memories?first={'9' * 5000}", "first: Unable to parse"),
            (f"/recall?q={'x' * 1001}", "q: String should have at most 1000 characters"),
            ("/book?of=diary", "'journal', 'people', 'notes'"),
            ("/series?hours=1&" + "&".join(f"a{n}=1" for n in range(1500)), "Send less"),
        ):
            answer = self.web.get(f"{API}{self.of_mira(path)}")
            error = self.answer("get", self.of_mira(path.partition("?")[0]), answer, 400)["error"]
            assert cure in error, path
            assert len(error) < 300

    def test_a_bad_body_is_refused(self):
        for body in ("[]", "{", '{"text": 1}', "7", "[" * 9000, {"txet": "x"}):
            assert self.post(self.of_mira("/pin"), 400, body=body)["error"]
        for rest in ("/pause", "/resume", "/compact", "/wake"):
            assert self.post(self.of_mira(rest), body={})["said"]
        huge = self.web.post(f"{API}{self.of_mira('/pin')}", "x" * 5_000_000, "application/json")
        assert "too long" in self.answer("post", self.of_mira("/pin"), huge, 400)["error"]
        assert not self.mira.db.asleep
        assert not self.mira.db.paused

    def test_unknown_agents_are_404_and_a_stopping_world_is_503(self):
        for number in (self.char1.id, 99_999, 10**30):
            for rest in READING:
                answer = self.web.get(f"{API}/agents/{number}{rest}")
                assert answer.status_code == 404, rest
            for rest in DOING:
                self.post(f"/agents/{number}{rest}", 404)
        assert "openapi.json" in self.get("/nothing", 404)["error"]
        self.stop_services()
        for rest in READING:
            answer = self.web.get(f"{API}{self.of_mira(rest)}")
            assert answer.status_code == 503, rest
            assert "agents are not running" in answer.json()["error"]
