"""What the window says of an agent is so now, adds up, and outlives reloads and new names."""

from __future__ import annotations

from collections import Counter
from typing import Any

from keepsake.contrib.evennia import lifecycle as runtime
from keepsake.contrib.evennia.minds import unopened
from keepsake.events.files import events
from tests.world.web_world import WebWorld
from typeclasses.agents import Agent


class TestWindow(WebWorld):
    """Item by item, as the page has it, in a world that can be reloaded."""

    def talks(self, *answers: str) -> None:
        self.said = [*answers, "wait"]
        self.char1.execute_cmd("talk Mira Good evening.")
        self.pass_time(4)

    def outcomes(self) -> Counter[str]:
        assert self.log.flush(10)
        found = events(self.log.folder)
        return Counter(each["outcome"] for each in found if each["kind"] == "thought")

    def reload(self) -> None:
        """The Server goes down and comes back."""
        assert self.log.flush(10)
        self.stop_services()
        self.log.close()
        self.services = self.start_services()
        self.addCleanup(runtime.stop, reload=True)
        runtime.live(self.services)
        self.settle(lambda: not unopened())

    def test_counts_add_up_to_those_of_the_log(self):
        self.talks("juggle", "juggle", "say Here I am.")
        self.talks("say Good night.")
        row, outcomes = self.get(self.of_mira()), self.outcomes()
        assert outcomes["refused"] == 2
        assert row["ended"] == sum(outcomes.values()) - outcomes["dropped"]
        assert row["failed"] == outcomes["refused"]
        assert (row["recent_ended"], row["recent_failed"]) == (row["ended"], row["failed"])

    def test_who_may_act_is_told_so(self):
        assert self.get("/agents")["agents"][0]["may_act"] is True
        assert self.get(self.of_mira())["may_act"] is True
        self.web = self.client_of(self.account_named("Stan", "Player", is_staff=True))
        found = self.get("/agents")
        assert found["agents"][0]["may_act"] is False
        assert self.get(self.of_mira())["may_act"] is False

    def about(self) -> tuple[str, bool, bool, bool]:
        row = self.get(self.of_mira())
        return row["state"], row["paused"], row["asleep"], row["going_home"]

    def said_of(self, deed: str, **body: Any) -> str:
        done = self.post(self.of_mira(f"/{deed}"), body=body or None)
        return ("" if done["done"] else "not: ") + done["said"]

    def test_paused_and_asleep(self):
        assert "does not think" in self.said_of("pause")
        assert self.said_of("sleep", here=True) == "Mira sleeps"
        assert self.about() == ("asleep", True, True, False)
        assert self.said_of("sleep") == "not: Mira is asleep already"
        assert "wakes first" in self.said_of("resume")
        assert self.about() == ("asleep", False, True, False)
        assert "sleeps on" in self.said_of("pause")
        assert "still paused" in self.said_of("wake")
        assert self.about() == ("paused", True, False, False)
        assert self.said_of("wake").startswith("not: Mira is awake")
        assert self.said_of("resume") == "Mira thinks again"
        assert self.about() == ("idle", False, False, False)

    def test_the_last_prompt_is_read_from_the_log(self):
        self.talks("say Good evening, Tom.")
        prompt = self.get(self.of_mira("/prompt"))
        self.reload()
        assert self.get(self.of_mira())["ended"] == 0
        found = self.get(self.of_mira("/prompt"))
        for name in ("sections", "budget", "trigger", "answer", "cached", "server_tokens"):
            assert found[name] == prompt[name], name
        (whole,) = found["sent"]
        assert whole["text"] == self.fake.prompts()[-1]
        self.talks("say Good night, Tom.")
        assert self.get(self.of_mira())["last_act"] == "say Good night, Tom."
        assert len(self.get(self.of_mira("/prompt"))["sent"]) > 1

    def acts_of(self, agent: Agent) -> list[str]:
        """What it did, by the numbers in the log."""
        assert self.log.flush(10)
        found = [each for each in events(self.log.folder) if each.get("agent_id") == agent.id]
        acts = [each["command"] for each in found if each["kind"] == "thought"]
        return [each for each in acts if each != "wait"]

    def test_whoever_has_the_name_next_gets_nothing_of_its_past_and_gives_it_nothing(self):
        self.talks("say Good evening, Tom.")
        self.mira.key = "Mirabel"
        self.settle()
        oswin = self.another_agent("Oswin")
        oswin.key = "Mira"
        self.settle()
        self.talks("say I am another.")
        assert self.acts_of(oswin) == ["say I am another."]
        assert self.acts_of(self.mira) == ["say Good evening, Tom."]
        for each, said in ((self.mira, "say Good evening, Tom."), (oswin, "say I am another.")):
            assert self.get(f"/agents/{each.id}/why", n=1)["command"] == said
