"""Files of machines with boxes, in our own format and in the formats of other programs; and recorded games."""
