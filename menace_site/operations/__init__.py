"""Back-ups, and beat's scheduler."""
