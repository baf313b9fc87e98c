"""A builder has a model read which of the lines that were found with typed words mean them."""

from __future__ import annotations

import json
from functools import partial

import pytest

from keepsake.errors import KeepsakeError
from keepsake.web import world
from keepsake.web.pasts.reading import which_mean
from tests.world.agents_world import next_of
from tests.world.web_world import WebWorld


class TestMeaning(WebWorld):
    """Tom has said two things with the same word."""

    def setUp(self):
        super().setUp()
        self.read = []
        self.answers = []
        self.fake.script = self.spoken
        self.ask("I have a watch of silver.", "> wait")
        self.ask("Nell keeps the watch tonight.", "> wait")

    def spoken(self, prompt):
        if "has heard of this" in prompt:
            self.read.append(prompt)
            return next_of(self.answers)
        return next_of(self.replies)

    def asked(self, words, chosen=()):
        """Ask in a worker thread, as a page does."""
        folders = world.folders()
        agents = world.known_agents()
        ask = partial(which_mean, words, self.services, folders, agents, chosen=chosen)
        made = self.services.workers.submit(ask)
        self.settle(made.done)
        return made.result()

    def test_the_lines_that_it_names_mean_it_and_the_others_do_not(self):
        found = self.get("/fact", q="watch")
        assert found["reader"]
        lines = [(each["id"], each["n"]) for each in found["strands"]]
        self.answers = [json.dumps({"lines": [1]})]
        said = self.asked("watch")
        (prompt,) = self.read
        assert "1. Tom to Mira: I have a watch of silver." in prompt
        assert [(each.id, each.n) for each in said.meant] == lines[:1]
        assert [(each.id, each.n) for each in said.other] == lines[1:]
        assert said.model == "fake"

    def test_it_is_told_which_lines_were_chosen(self):
        (silver, _) = self.get("/fact", q="watch")["strands"]
        self.answers = [json.dumps({"lines": [1]})]
        line = str(silver["id"]), silver["n"]
        assert [each.n for each in self.asked("turnip", chosen=[line]).meant] == [silver["n"]]
        (prompt,) = self.read
        assert "heard of this: turnip, as in “Tom to Mira: I have a watch of silver.”" in prompt

    def test_an_answer_that_cannot_be_used_changes_nothing(self):
        self.answers = ["I cannot tell.", "No."]
        with pytest.raises(KeepsakeError, match="did not answer with numbers"):
            self.asked("watch")
        assert len(self.read) == 2, "it is asked once more"
        said = self.post("/fact/meant", 400, {"q": "zeppelin"})
        assert "Nothing was said" in said["error"]
