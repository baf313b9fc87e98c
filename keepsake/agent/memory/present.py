"""What an agent without a memory is shown: the setting ``memory: no`` of ``thinking.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from keepsake.agent.attention.recent_talks import TALK_SECONDS
from keepsake.archive.records import Memory
from keepsake.tasks.forms.facts import without_kept
from keepsake.tasks.forms.form import LAST_LINES
from keepsake.tasks.scene import Scene


def present_only(scene: Scene, made_from: Mapping[str, Any]) -> tuple[Scene, Mapping[str, Any]]:
    """Return a scene without what the agent remembers, and the summary of it for the event.

    The persona, the surroundings, the plans and the window stay, which is the present talk already.
    """
    present = replace(
        scene,
        longterm="",
        longterm_span="",
        recent="",
        recent_span="",
        people=(),
        known=(),
        recalled=(),
        told=(),
        experiences=(),
        notes=(),
        journal=(),
        pinned=(),
        noticed=(),
        kept=(),
        private_kept=(),
        still_kept=(),
        stated=without_kept(scene.stated),
    )
    shown = {"longterm": 0, "compaction": 0, "recalled": []}
    # As in the event of any thought: the window began after ``recent``.
    before = scene.window[0].number - 1 if scene.window else made_from["total"]
    return present, {**made_from, **shown, "recent": before}


def present_talk(window: Sequence[Memory], now: datetime) -> tuple[Memory, ...]:
    """Return the newest memories, back to a silence of :data:`TALK_SECONDS`; none after one.

    There are at most :data:`LAST_LINES`: as many as a model that only talks is shown.

    Args:
        now: The present time, with time zone.
    """
    talk = list[Memory]()
    after = now
    for memory in reversed(window[-LAST_LINES:]):
        if (after - memory.time).total_seconds() > TALK_SECONDS:
            break
        talk.append(memory)
        after = memory.time
    return tuple(reversed(talk))
