"""The seats of live matches that machines and opponents take."""
