"""The lab: simulations, evaluations that compare memories, and sweeps."""
