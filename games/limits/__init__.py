"""How much and how often: quotas under a lock, rates, admission control, addresses."""
