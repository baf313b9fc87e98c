"""Memories that agents may have: ours and others, behind one Protocol."""
