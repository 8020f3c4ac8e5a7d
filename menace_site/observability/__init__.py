"""Logs, figures, error reports, health."""
