"""Memory systems for agents, ours and others', behind one Protocol."""
