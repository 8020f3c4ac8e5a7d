"""Files of machines: the code that is common to files of all kinds of learners, without Django."""
