"""Paper, inks, fonts, boards and options of printed boxes. This package uses neither Django nor a learner."""
