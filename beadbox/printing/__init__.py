"""Paper, inks, fonts and options of a print. This package uses neither Django nor a learner."""
