"""The readable generator, the compiled one and the published numbers agree."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beadbox.kernels.jit import kernel
from beadbox.kernels.random_source import RandomSource, below, next_word

WORDS = st.integers(0, 2**64 - 1)


@kernel
def _compiled_words(state, limits):
    """Return words, and for each word the number below its limit."""
    numbers = np.empty((2, len(limits)), np.uint64)
    a, b = state[0], state[1]
    for index in range(len(limits)):
        word, a, b = next_word(a, b)
        numbers[0, index] = word
        numbers[1, index] = below(word, limits[index])
    state[0], state[1] = a, b
    return numbers


def xoroshiro128plusplus(state, n):
    """Yield ``n`` words of the generator by its published description: R = rotl(s0 + s1, 17) + s0."""
    bits = 64

    def rotl(x, k):
        return int(f"{x:064b}"[k:] + f"{x:064b}"[:k], 2)

    s0, s1 = state
    for _ in range(n):
        yield (rotl((s0 + s1) % 2**bits, 17) + s0) % 2**bits
        s1 = s0 ^ s1
        s0 = rotl(s0, 49) ^ s1 ^ (s1 << 21) % 2**bits
        s1 = rotl(s1, 28)


def splitmix64(state, n):
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        yield z ^ (z >> 31)


def test_the_published_numbers_of_xoroshiro128plusplus():
    # The output of the authors' program for the initial words 1 and 2.
    published = [
        *(393217, 669327710093319, 1732421326133921491, 11394790081659126983, 9555452776773192676),
        *(3586421180005889563, 1691397964866707553, 10735626796753111697, 15216282715349408991, 14247243556711267923),
    ]
    source = RandomSource.from_words(1, 2)
    assert [source.word() for _ in range(10)] == published
    assert list(xoroshiro128plusplus((1, 2), 10)) == published


def test_the_published_numbers_of_splitmix64():
    # The output of the authors' program for the seed 1234567.
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert list(splitmix64(1234567, 4)) == published


@given(WORDS, WORDS.filter(bool))
def test_the_readable_twin_is_xoroshiro128plusplus(first, second):
    source = RandomSource.from_words(first, second)
    assert [source.word() for _ in range(20)] == list(xoroshiro128plusplus((first, second), 20))


@given(WORDS, WORDS.filter(bool), st.lists(st.integers(1, 2**32 - 1), min_size=1, max_size=50))
def test_compiled_twin_gives_the_same_words_and_state(first, second, limits):
    source = RandomSource.from_words(first, second)
    state = source.to_array()
    words, numbers = _compiled_words(state, np.array(limits, np.uint64))
    start = RandomSource.from_words(*source.words)
    assert [start.word() for _ in limits] == [int(word) for word in words]
    assert [source.below(limit) for limit in limits] == [int(number) for number in numbers]
    assert source.words == (int(state[0]), int(state[1]))
    assert source.words == start.words


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_seed_is_spread_by_splitmix64(seed, stream):
    (mixed,) = splitmix64(seed, 1)
    (start,) = splitmix64(mixed ^ stream, 1)
    assert RandomSource(seed, stream).words == tuple(splitmix64(start, 2))


def test_seeds_and_streams_give_different_sequences():
    starts = {RandomSource(seed, stream).words for seed in range(100) for stream in range(10)}
    assert len(starts) == 1000
    assert RandomSource(-1).words == RandomSource(2**64 - 1).words


def test_a_saved_source_continues_its_sequence():
    source = RandomSource(7)
    for _ in range(5):
        source.below(6)
    restored = RandomSource.from_words(*source.words)
    from_array = RandomSource(0)
    from_array.set_array(source.to_array())
    assert [restored.below(6) for _ in range(50)] == [source.below(6) for _ in range(50)]
    assert [from_array.below(6) for _ in range(50)] != [source.below(6) for _ in range(50)]
    assert from_array.words == restored.words


@pytest.mark.parametrize("words", [(0, 0), (-1, 1), (1, 2**64)])
def test_invalid_states_are_refused(words):
    with pytest.raises(ValueError, match="is not a state"):
        RandomSource.from_words(*words)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 9, 36])
def test_numbers_below_n_are_equally_likely(n):
    source, counts = RandomSource(42), [0] * n
    for _ in range(2_000 * n):
        counts[source.below(n)] += 1
    assert sum(counts) == 2_000 * n
    # Six standard deviations of a count of 2,000.
    assert all(abs(count - 2_000) < 6 * 2_000**0.5 for count in counts)


def test_words_follow_each_other_without_repeating():
    source = RandomSource(1)
    words = [source.word() for _ in range(10_000)]
    assert len(set(words)) == len(words)
    assert sum(a < b for a, b in pairwise(words)) == pytest.approx(5_000, abs=300)
