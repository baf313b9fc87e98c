"""The append-only archive of an agent's memories, and the tier that holds each memory."""
