"""What a site may meet with in a year, done to it while people play: killed, hung, emptied, full, at another time."""
