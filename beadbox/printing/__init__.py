"""Paper, inks, fonts, and what can be chosen of a print. Nothing here knows Django or a learner."""
