"""Independent implementations that share no code with the project, to check the figures in the documents."""
