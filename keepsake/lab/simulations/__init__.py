"""Simulated worlds: days lived without telnet, in simulated time."""
