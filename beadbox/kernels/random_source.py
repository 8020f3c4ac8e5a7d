"""The project's only generator of random numbers: xoroshiro128++ seeded by SplitMix64, in Python and compiled.

The state is two 64-bit words. The state can be saved and restored, so a resumed run goes on exactly where it stopped.
A word becomes a number below ``n`` as ``((word >> 32) * n) >> 32``, with a bias below ``n / 2**32``. numba's own
generator is global. NumPy's generator is not reproducible in a kernel at this speed. So neither of them is used.

Source: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators" (2019), xoroshiro128++ 1.0;
D. Lemire, "Fast random integer generation in an interval" (2019).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.jit import inlined

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


class RandomSource:
    """The readable twin of :func:`next_word`: a source of random words, which are the same as those of kernels.

    Args:
        seed: any whole number; different seeds give unrelated sequences.
        stream: a second number, for many independent sequences of one seed, such as one for each ply of a match.
    """

    def __init__(self, seed: int, stream: int = 0) -> None:
        mixed = _mix(_mix(seed & _MASK) ^ (stream & _MASK))
        self.words: tuple[int, int] = (_mix(mixed), _mix((mixed + _GOLDEN) & _MASK))

    @classmethod
    def from_words(cls, first: int, second: int) -> RandomSource:
        """Return the source that goes on from a saved state.

        Raises:
            ValueError: both words are zero, or one is not a 64-bit number.
        """
        if not (0 <= first <= _MASK and 0 <= second <= _MASK and first | second):
            raise ValueError(f"{first}, {second} is not a state of the generator")
        source = cls(0)
        source.words = (first, second)
        return source

    @classmethod
    def from_text(cls, text: str) -> RandomSource:
        """Return the source that goes on from a state in the form of :attr:`text`."""
        return cls.from_words(*(int(word, 16) for word in text.split(":")))

    @property
    def text(self) -> str:
        """The state in the form in which it is stored: two hexadecimal words, separated by a colon."""
        return "{:016x}:{:016x}".format(*self.words)

    def word(self) -> int:
        """Return the next 64 random bits and advance the state."""
        a, b = self.words
        result = (_rotate((a + b) & _MASK, 17) + a) & _MASK
        b ^= a
        self.words = (_rotate(a, 49) ^ b ^ (b << 21) & _MASK, _rotate(b, 28))
        return result

    def below(self, n: int) -> int:
        """Return a whole number in ``0 … n-1``, for ``1 <= n < 2**32``. Every call takes exactly one word."""
        return ((self.word() >> 32) * n) >> 32

    def to_array(self) -> NDArray[np.uint64]:
        """Return the state for a kernel: ``(2,) uint64``."""
        return np.array(self.words, dtype=np.uint64)

    def set_array(self, state: NDArray[np.uint64]) -> None:
        """Set the state to the state in which a kernel has left the array."""
        self.words = (int(state[0]), int(state[1]))


def _mix(x: int) -> int:
    """Return the output of one step of SplitMix64 from state ``x``."""
    x = (x + _GOLDEN) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def _rotate(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (64 - bits))) & _MASK


@inlined
def next_word(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the next word and the two words of state after it."""
    total = a + b
    word = ((total << np.uint64(17)) | (total >> np.uint64(47))) + a
    b ^= a
    a = ((a << np.uint64(49)) | (a >> np.uint64(15))) ^ b ^ (b << np.uint64(21))
    b = (b << np.uint64(28)) | (b >> np.uint64(36))
    return word, a, b


@inlined
def below(word: np.uint64, n: np.uint64) -> np.uint64:
    """Return the number in ``0 … n-1`` that a word stands for."""
    return ((word >> np.uint64(32)) * n) >> np.uint64(32)
