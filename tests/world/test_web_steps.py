"""How a fact went, in steps: who told it or gave it, to whom, who stood by, and the line itself."""

from __future__ import annotations

from tests.world.web_world import WebWorld


def people(step):
    return {each["name"]: (each["way"], each["knew"]) for each in step["to"]}


class TestSteps(WebWorld):
    """Mira lost a cup; Tom gives it to her while Ada stands by."""

    def setUp(self):
        super().setUp()
        self.ada = self.add_agent("Ada")
        self.ada.db.paused = True
        self.mira.db.paused = True

    def steps(self, words):
        return self.get("/fact", q=words)["who"]["sources"]

    def test_a_gift_is_a_step_though_who_gets_it_knew_of_it(self):
        self.char1.execute_cmd("say Good evening.")
        self.mira.execute_cmd("say My blue cup is gone.")
        cup = self.add_thing("blue cup")
        cup.location = self.char1
        self.char1.execute_cmd("give blue cup to Mira")
        self.pass_time(3)
        said, gave = self.steps("blue cup")
        assert (said["source"], said["text"]) == ("Mira", "My blue cup is gone.")
        assert people(said).keys() == {"Ada", "Tom"}
        assert (gave["source"], gave["source_id"]) == ("Tom", None)
        assert gave["text"] == "Tom gives a blue cup to Mira."
        assert people(gave) == {"Mira": ("got", True)}

    def test_who_is_called_in_words_to_another_was_told_and_who_told_is_no_hearer(self):
        self.char1.execute_cmd("talk Mira Hold this, Mira. Ada, I go to the surgeon.")
        self.pass_time(3)
        who = self.get("/fact", q="surgeon")["who"]
        (step,) = who["sources"]
        assert people(step) == {"Mira": ("told", False), "Ada": ("told", False)}
        assert who["answer"] == "Mira and Ada know of “surgeon”, from Tom."

    def test_who_only_asks_tells_nobody(self):
        self.char1.execute_cmd("talk Mira Does anybody go to the surgeon?")
        self.pass_time(3)
        who = self.get("/fact", q="surgeon")["who"]
        assert who["answer"].startswith("Nobody told “surgeon” in these words: Tom only asked.")
        self.char1.execute_cmd("whisper Mira = I go to the surgeon.")
        self.pass_time(3)
        who = self.get("/fact", q="surgeon")["who"]
        assert who["answer"] == "Mira knows of “surgeon”, from Tom."
        (asked,) = who["news"]
        assert (asked["kind"], asked["speaker"]) == ("asked", "Tom")

    def test_the_short_answer_says_who_got_a_thing_and_who_said_it_first(self):
        cup = self.add_thing("blue cup")
        cup.location = self.char1
        self.char1.execute_cmd("give blue cup to Mira")
        self.ada.execute_cmd("say Now the blue cup hangs there again.")
        self.pass_time(3)
        lines = self.get("/answer", of="who", about="blue cup")["lines"]
        texts = {each["label"]: each["text"] for each in lines}
        assert texts["Mira"].startswith("got it from Tom: ")
        assert texts["Tom"].startswith("did it: ")
        assert texts["Ada"].startswith("saw it: ")
