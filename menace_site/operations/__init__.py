"""Back-ups, and the clock of the schedules."""
