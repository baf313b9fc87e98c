"""The verbs of the memory tools, by which archives tell an agent's own tool calls."""

from __future__ import annotations

from keepsake.happening import KnownVerb

_FORMER_TOOLS = ("notes", "page", "compact", "journal")
"""The verbs of tools that early versions had."""
TOOL_VERBS = frozenset(
    {
        KnownVerb.RECALL,
        KnownVerb.REMEMBER,
        KnownVerb.PROMISE,
        KnownVerb.KEPT,
        KnownVerb.NOTE,
        KnownVerb.PIN,
        KnownVerb.UNPIN,
        KnownVerb.FORGET,
        KnownVerb.PLAN,
        KnownVerb.DONE,
        KnownVerb.CANCEL,
        KnownVerb.AGREE,
        KnownVerb.DECLINE,
        *_FORMER_TOOLS,
    }
)
"""The verbs of the memory tools, including former ones that older archives contain. Nobody else
perceives them."""
