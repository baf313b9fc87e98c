"""The three prompt forms: chat messages, a dialogue to continue, a transcript to continue."""
