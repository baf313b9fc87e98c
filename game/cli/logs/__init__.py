"""``keepsake logs`` and ``keepsake export``: the event log, shown and exported."""
