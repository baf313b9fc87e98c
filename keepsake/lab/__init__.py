"""The lab: whole days lived without telnet, memories compared, sweeps."""
