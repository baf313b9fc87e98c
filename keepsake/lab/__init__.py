"""The lab: whole days lived without telnet, archived lives lived otherwise, worlds forked."""
