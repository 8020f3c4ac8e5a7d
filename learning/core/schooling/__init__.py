"""What becomes of a machine under a rule and a teacher, as a function of seed and number of games."""
