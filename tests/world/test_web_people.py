"""The API about people: what each agent knows of one person, from any of their names."""

from __future__ import annotations

from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.plan import Plan
from keepsake.happening import Person
from tests.world.web_world import WebWorld

SECRET = "The bell lies under the jetty."


class TestPeople(WebWorld):
    """Tom has talked with Mira, and whispered to her; Ada heard some of it; Ed knows nobody."""

    def setUp(self):
        super().setUp()
        self.ada = self.add_agent("Ada")
        self.ada.db.paused = True
        self.ed = self.add_agent("Ed")
        self.ed.db.paused = True
        self.ed.location = None
        self.ask("My brother Edwin mends nets.", "> say Edwin has good hands, then.")
        self.replies = ["> wait"]
        self.char1.execute_cmd(f"whisper Mira = {SECRET}")
        self.pass_time(1.5)
        self.tom = identity_of(self.char1)

    def known(self, **query):
        """Return what agents know of somebody, by the agent's name."""
        found = self.get("/person", **query)
        return {each["agent"]: each for each in found["agents"]}

    def test_everybody_is_listed_with_who_knows_them(self):
        rows = {each["name"]: each for each in self.get("/people")}
        assert rows["Tom"]["key"] == self.tom
        assert rows["Tom"]["id"] is None
        assert set(rows["Tom"]["known_by"]) == {self.mira.id, self.ada.id}
        assert rows["Ed"]["id"] == self.ed.id
        assert rows["Ed"]["known_by"] == []

    def test_each_agent_has_what_it_heard_itself(self):
        found = self.get("/person", name="tom")
        assert found["strangers"] == ["Ed"]
        known = {each["agent"]: each for each in found["agents"]}
        said = {each["text"]: each for each in known["Mira"]["lines"]}
        assert said["My brother Edwin mends nets."]["said"]
        assert not said["My brother Edwin mends nets."]["private"]
        assert said[SECRET]["private"] == "whispered"
        number = said[SECRET]["numbers"][0]
        (memory,) = self.get(self.of_mira("/memories"), first=number, last=number)
        assert memory["text"].endswith(f'"{SECRET}"')
        assert SECRET not in str(known["Ada"])

    def test_promises_plans_and_mentions_are_shown(self):
        self.replies = ["> say I shall. | a promise\n> promise Tom: a bowl of soup"]
        self.char1.execute_cmd("talk Mira Will you keep me some soup?")
        self.pass_time(1.5)
        self.mind.books.plans.add(Plan(what="fetch honey", whom=Person("Tom", self.tom)))
        mira = self.known(key=self.tom)["Mira"]
        assert [each["text"] for each in mira["promises"]] == ["promise to Tom: a bowl of soup"]
        number = mira["promises"][0]["memory"]
        assert number
        soup = {"id": self.mira.id, "agent": "Mira", "whom": "Tom", "text": "a bowl of soup"}
        (promised,) = self.get("/promises")
        assert promised | soup | {"memory": number, "private": ""} == promised
        found = self.get("/person", key=self.tom, by=self.mira.id)["agents"]
        lines = next(each["lines"] for each in found if each["agent"] == "Mira")
        errands = {each["text"]: each["errand"] for each in lines}
        assert errands["Will you keep me some soup?"]
        assert not errands["My brother Edwin mends nets."]
        assert ["fetch honey" in each["line"] for each in mira["plans"]] == [True]

    def test_what_a_person_said_to_others_and_who_named_them_is_there_besides_the_page(self):
        known = self.known(key=self.tom)
        # Ada's page of Tom has nothing that was meant for Mira; her memory of it is about him.
        assert "Edwin" not in str(known["Ada"]["lines"])
        texts = [each["text"] for each in known["Ada"]["memories"]]
        assert any("My brother Edwin mends nets." in each for each in texts)
        there = {number for each in known["Mira"]["lines"] for number in each["numbers"]}
        others = {each["number"] for each in known["Mira"]["memories"]}
        assert others
        assert not others & there
        assert known["Mira"]["more_memories"] == 0
        assert known["Mira"]["complete"]

    def test_of_one_agent_there_is_what_it_heard_somebody_say_to_others(self):
        found = self.get("/person", key=self.tom, by=self.ada.id)
        known = {each["agent"]: each for each in found["agents"]}
        (heard,) = known["Ada"]["overheard"]
        assert heard["text"] == heard["told"] == "My brother Edwin mends nets."
        assert (heard["to"], heard["private"]) == (["Mira"], "")
        assert heard["weight"] > 0
        shown = {each["number"] for each in known["Ada"]["memories"]}
        assert shown.isdisjoint(heard["numbers"]), "each stands once"
        assert known["Mira"]["overheard"] == []

    def test_an_agent_is_a_person_too_and_does_not_know_itself(self):
        found = self.get("/person", id=self.mira.id)
        assert found["person"]["name"] == "Mira"
        assert "Mira" not in [each["agent"] for each in found["agents"]]
        assert [each["agent"] for each in found["agents"]] == ["Ada"]
        assert found["agents"][0]["names"] == ["Mira"]
        assert found["agents"][0]["lines"] == [], "it heard words that were meant for Tom"

    def test_a_new_name_leads_to_the_same_person(self):
        self.char1.key = "Tomas"
        self.ask("I am called Tomas now.", "> say Good evening, Tomas.")
        assert self.known(name="Tomas").keys() == self.known(name="Tom").keys()
        assert self.get("/person", name="Tom")["person"]["names"] == ["Tomas", "Tom"]

    def test_nobody_is_refused_with_the_cure(self):
        assert "Give a `key`" in self.get("/person", 400)["error"]
        assert "No agent knows 'Griet'" in self.get("/person", 404, name="Griet")["error"]
        assert "No agent knows" in self.get("/person", 404, id=99_999)["error"]
