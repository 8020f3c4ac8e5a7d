"""Limits of quantity and frequency: quotas under a lock, rates, admission control, client addresses."""
