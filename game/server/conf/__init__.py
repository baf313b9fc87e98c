"""The one place that wires everything together; nothing imports it."""
