"""How to play, for somebody who has never seen the board: words that hold whichever way up it lies."""

from types import MappingProxyType

GUIDE = MappingProxyType(
    {
        "The aim": "Bring your rhombus to the home of the other rhombus, or leave the other side without a move.",
        "Square": "Steps to any neighbour but the two straight towards either end of the board.",
        "Triangle": "Steps the way it points, or half left or half right of that.",
        "Hexgon": "Goes along its bar, both ways: one step, or that step and one more, half left or half right. "
        "It leaps over whatever is between.",
        "Rhombus": "Goes one or two hexes straight towards either end, or leaps two rows across. "
        "Between the dark middle and the hexes around it, it may also step across to an empty hex. "
        "It never takes the other rhombus.",
        "Circle": "Runs round its ring of one tint, as far as the way is free, and takes the first enemy it meets. "
        "It may also step to an empty hex of another tint, but not into the dark middle.",
        "Check": "No move may leave your rhombus where it could be taken, unless it has just reached its goal.",
        "Repeating": "Who brings about the same board for the third time loses. After 200 moves the game is drawn.",
    }
)
