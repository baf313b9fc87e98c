"""The event log has what agents do, in the shape of the event classes, and no secrets."""

from __future__ import annotations

import json
import logging
import re
from functools import partialmethod
from typing import Any

from pydantic import TypeAdapter

from keepsake.agent import runtime
from keepsake.contrib.evennia.minds import close_all
from keepsake.events.files import events
from keepsake.events.log_file import FaultHandler
from keepsake.events.prompts import prompt_text
from keepsake.events.types import KINDS, World
from keepsake.events.values import CompactReason, WorldOp
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.config import CompactionConfig
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import Profiles
from keepsake.paths import Places
from keepsake.web.history import nights
from tests.fakes.model_server import Reply
from tests.world.agents_world import FixedConfig, LoggedWorld

_SHAPES = {kind: TypeAdapter[Any](of) for kind, of in KINDS.items()}
_PASSWORD = "c67jHL8p"
_KEY = "sk-a-key-of-somebody"


class EventsWorld(LoggedWorld):
    """A world whose log lines and warnings are events, too."""

    SECRETS = (_KEY,)

    def start_services(self) -> runtime.Runtime:
        new = super().start_services()
        logger = logging.getLogger("keepsake")
        handler = FaultHandler(self.log)
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)
        self.addCleanup(logger.setLevel, logger.level)
        logger.setLevel(logging.INFO)
        return new

    def make_gateway(self, places: Places) -> Gateway:
        return Gateway(
            Profiles(places.config / "llm.md"), places, self.posted.put, changed=self.log.emit
        )

    def logged(self, kind: str = "", agent: str = "Mira") -> list[dict[str, Any]]:
        """Return the events of that kind so far, after a check of all against their classes."""
        assert self.log.flush(60)
        found = list(events(self.log.folder))
        for each in found:
            own = {name: it for name, it in each.items() if name not in ("v", "seq", "t", "kind")}
            _SHAPES[each["kind"]].validate_python(own, extra="forbid")
        assert [each["seq"] for each in found] == list(range(1, len(found) + 1))
        return [
            each
            for each in found
            if each["kind"] == (kind or each["kind"]) and each.get("agent", agent) == agent
        ]

    ask_and_wait = partialmethod(LoggedWorld.ask, seconds=20.0)


class ThoughtsTest(EventsWorld):
    def test_each_try_has_its_prompt_its_tokens_and_its_act(self):
        self.ask_and_wait("Well?", "> destroy everything", "> say The leek soup. | Tom is hungry")
        refused, thought = self.logged("thought")[:2]
        assert (refused["outcome"], refused["command"], refused["attempt"]) == ("refused", None, 1)
        assert refused["problem"]
        assert refused["prompt"] != thought["prompt"]
        expected = {
            "trigger": "addressed",
            "priority": "player",
            "source": "Tom",
            "attempt": 2,
            "answer": "> say The leek soup. | Tom is hungry",
            "command": "say The leek soup.",
            "reason": "Tom is hungry",
            "outcome": "acted",
            "model": "fake",
            "budget": self.services.limits.prompt_tokens,
        }
        assert thought.items() >= expected.items()
        prompt = prompt_text(self.log.folder, thought["prompt"], thought["seq"])
        sent = "".join(self.prompts()[1].split("\n"))
        without_roles = re.sub(r"^\[(system|user|assistant)\]$", "", prompt, flags=re.MULTILINE)
        assert "".join(without_roles.split("\n")) == sent
        assert thought["sections"]["who it is"] > 0
        assert thought["prompt_tokens"] > 0

    def test_what_was_done_before_a_turn_was_dropped_is_logged_once(self):
        """The second round of a turn, after a look-up, is dropped before it asks anything."""
        for drop in (self.pause_mira, self.mind.thinker.cancel_thought):
            before = len(self.logged("thought"))
            recall = self.mind.tools.recaller.recall
            rounds = iter([lambda: None, drop])

            def recalled(*args: object, recall=recall, rounds=rounds, **options: object) -> object:
                if "purpose" in options:  # a round's own, and not the look-up
                    next(rounds)()
                return recall(*args, **options)

            self.mind.tools.recaller.recall = recalled
            self.ask_and_wait("Well?", "> look")
            self.mind.tools.recaller.recall = recall
            self.mira.attributes.remove("paused")
            found = [(each["outcome"], each["command"]) for each in self.logged("thought")[before:]]
            assert found == [("acted", "look"), ("dropped", None)], drop

    def pause_mira(self) -> None:
        self.mira.db.paused = True

    def test_secrets_do_not_enter(self):
        self.ask_and_wait(f"connect Tom {_PASSWORD}", f"say connect Tom {_PASSWORD}")
        self.char1.execute_cmd(f"say create Tom {_PASSWORD}")
        self.char1.execute_cmd(f"@password {_PASSWORD} = {_PASSWORD}2")
        self.pass_time(20)
        assert self.logged("thought")
        refused = Reply(status=400, raw=f'{{"error": "no {_KEY}"}}'.encode())
        self.fake.always("/api/chat", refused)
        self.ask_and_wait("Good evening.")
        thought = self.logged("thought")[-1]
        assert (thought["outcome"], thought["answer"], thought["model"]) == ("no answer", "", "")
        assert "no [secret]" in thought["problem"]
        text = "\n".join(path.read_text() for path in self.log.folder.glob("*.jsonl"))
        assert _PASSWORD not in text
        assert _KEY not in text


class MemoriesTest(EventsWorld):
    def test_memories_repeats_compactions_and_undo_are_events(self):
        archive = self.mind.memory.memory.archive
        before = archive.last_number
        self.char1.execute_cmd("say I hid the spoons.")
        self.char1.execute_cmd("say I hid the spoons.")
        first, second = self.logged("memory")[-2:]
        (memory,) = archive.read(before + 1, before + 1)
        assert (first["op"], first["n"], first["of"]) == ("append", memory.number, "perception")
        assert first["size"] == len(memory.text)
        assert (second["op"], second["n"], second["times"]) == ("repeat", memory.number, 2)
        assert "spoons" not in json.dumps([first, second])
        small = CompactionConfig(
            immediate_window=4, recent_window=4, preserve_memories=4, min_saving_tokens=0
        )
        self.services.compaction = FixedConfig(small)
        for n in range(9):
            self.char1.execute_cmd(f"say Number {n} of the old songs is about the river.")
        self.wait_for_compaction()
        (made,) = self.logged("compaction")
        assert (made["reason"], made["number"], made["first"]) == ("count", 1, 1)
        assert made["last"] > made["first"]
        assert made["tokens_after"] < made["tokens_before"]
        self.mind.compactions.undo()
        self.wait_for_compaction()
        undone = self.logged("memory")[-1]
        assert (undone["op"], undone["n"], undone["problem"]) == ("undo", 1, "")


class NightsTest(EventsWorld):
    def sleep_events(self):
        return [(each["op"], each["why"]) for each in self.logged("sleep") if each["op"] != "step"]

    def test_a_night_and_its_steps_are_events_across_a_reload(self):
        self.mind.sleeper.fall_asleep("16 hours awake")
        self.settle(lambda: not self.mind.sleeper.nights.working)
        close_all()
        self.mind.sleeper.wake("Tom")
        assert self.sleep_events() == [("falls asleep", "16 hours awake"), ("wakes", "Tom")]
        steps = [each["step"] for each in self.logged("sleep") if each["op"] == "step"]
        assert steps == ["consolidate", "reflect", "profiles", "intentions"]
        number = self.mira.id
        (night,) = nights(self.services.places.events, number)
        *lines, woken = night.text.splitlines()
        assert (night.facts["why"], woken) == ("16 hours awake", "- woken by Tom")
        assert [line[2:].partition(":")[0] for line in lines] == steps


class ServersTest(EventsWorld):
    def test_every_kind_of_event_is_logged(self):
        gateway = self.services.gateway
        self.log.emit(World(op=WorldOp.STARTS))
        self.ask_and_wait("Good evening.")
        gateway.check_health()
        gateway.check_health()
        self.mind.compactions.compact(CompactReason.MANUAL)
        self.wait_for_compaction()
        self.mind.sleeper.fall_asleep("it was late")
        self.settle(lambda: not self.mind.sleeper.nights.working)
        self.mira.move_to(self.add_room("The Quay"), quiet=True)
        log = get_logger(Subsystem.MODELS)
        log.warning("The prompt needs 9 of 8 tokens", agent="Mira")
        log.error("Something broke")
        log.info("All is well", agent="Mira")
        logging.getLogger("keepsake.other").warning("%s", "gone")
        found = self.logged("error", agent="") + self.logged("error")
        assert [(each["level"], each["subsystem"], each["agent"]) for each in found] == [
            ("error", "models", ""),
            ("warning", "other", ""),
            ("warning", "models", "Mira"),
        ]
        # Here is no index, no guard, no small model, no other agent and no service; their events:
        # test_why_world, test_contradictions_world, test_agreed, test_passing_on, test_occasions.
        missing = {"recall", "guard", "agreement", "consent", "pair_talk", "call"}
        assert {each["kind"] for each in self.logged()} == set(KINDS) - missing
        self.fake.close()
        gateway.check_health()
        ready, gone = self.logged("health")
        assert (ready["provider"], ready["ready"], ready["problem"]) == ("ollama", True, "")
        assert ready["host"] == gone["host"] == self.fake.address
        assert gone["ready"] is False
        assert gone["problem"]
