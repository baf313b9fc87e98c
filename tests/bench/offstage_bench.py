"""A week of ten agents with nobody there and no model: what they live through, and what it costs.

Simulated in processes of their own, as ``keepsake simulate`` does. The processor time is that of
the whole world: nights, compactions, housekeeping and the building of the world as well.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from keepsake.events.reader import Filter, last
from keepsake.lab.simulations.plan import HOUR
from keepsake.paths import REPOSITORY, Places, Ports
from tests.bench.figures import Figure
from tests.lab.quiet_life import SEEN, begin, go_on

AGENTS, HOURS = 10, 7 * 24.0


def measure() -> Iterator[Figure]:
    """Memories, meetings, who heard of a deed, and the share of a core for fifty agents."""
    with tempfile.TemporaryDirectory(prefix="keepsake-offstage-") as scratch:
        places = Places(Path(scratch), REPOSITORY / "vault", Ports(21000))
        before = _processor_seconds()
        lab = begin(places, "week", AGENTS)
        life = go_on(places, lab, HOURS)
        share = (_processor_seconds() - before) / (HOURS * HOUR) / AGENTS
        thoughts = last(lab.places().logs / "events", 10, Filter(kinds={"thought"}))
    counts = sorted(len(each) for each in life.memories.values())
    heard = life.heard(SEEN)
    chained = sum(life.leads_back(memory, SEEN) for memory in heard.values())
    rows = (
        ("memories of the agent with the fewest", counts[0], "", f"most {counts[-1]}; wanted 40"),
        ("meetings", life.meetings, "", "wanted 20"),
        ("agents who heard of one deed", len(heard), f"of {AGENTS - 1}", "wanted 5"),
        ("with a chain back to who saw it", chained, f"of {len(heard)}", "wanted all"),
        ("whispers told on", life.whispered(), "", "wanted 0"),
        ("thoughts", len(thoughts), "", "wanted 0"),
        ("a core, for 50 agents", 100 * 50 * share, "%", "wanted at most 1"),
    )
    for name, value, unit, reference in rows:
        yield Figure(f"offstage: {name}", int(HOURS / 24), value, unit, reference)


def _processor_seconds() -> float:
    """Of all processes that have been started here, and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
