"""What several threads would store one after the other is stored by one of them for all."""

import threading

from games.together import Together
from tests.waiting import HANG_S, wait_until


class Stores:
    """A store of numbers that can be held up, and fails where one is poisoned."""

    def __init__(self, poisoned: int = -1) -> None:
        self.together = Together[list[int]]()
        self.may_go = threading.Event()
        self.batches: list[list[int]] = []
        self.found: dict[int, bool] = {}
        self.poisoned = poisoned

    def first(self) -> None:
        assert self.together.begin("key")
        try:
            assert self.may_go.wait(HANG_S)
            self.batches.append([0])
        finally:
            self.together.end("key")

    def later(self, number: int) -> None:
        if self.together.begin("key"):
            self.together.end("key")
        else:
            self.found[number] = self.together.wait("key", [number], self.store)

    def store(self, items: list[list[int]]) -> list[list[int]]:
        self.batches.append([number for (number,) in items])
        if self.poisoned in self.batches[-1]:
            raise ValueError("this one cannot be stored")
        return [item for item in items if item != [7]]

    def run(self, *numbers: int) -> None:
        threads = [threading.Thread(target=self.first)]
        threads[0].start()
        assert wait_until(lambda: bool(self.together._waiting))
        for n_before, number in enumerate(numbers):
            threads.append(threading.Thread(target=self.later, args=(number,)))
            threads[-1].start()
            assert wait_until(lambda: len(self.together._waiting["key"]) > n_before)  # noqa: B023 - called at once
        self.may_go.set()
        for thread in threads:
            thread.join(HANG_S)


def test_those_who_wait_are_stored_by_the_first_of_them() -> None:
    stores = Stores()
    stores.run(1, 2, 3)
    assert stores.batches == [[0], [1, 2, 3]]
    assert stores.found == {1: True, 2: True, 3: True}
    assert not stores.together._waiting


def test_one_that_was_not_stored_is_told_so() -> None:
    stores = Stores()
    stores.run(1, 7)
    assert stores.found == {1: True, 7: False}


def test_if_it_fails_everybody_is_told_so_and_nobody_waits_for_ever() -> None:
    stores = Stores(poisoned=2)
    stores.run(1, 2, 3)
    assert stores.found == {1: False, 2: False, 3: False}
    assert not stores.together._waiting


def test_who_comes_when_the_one_who_stored_has_just_ended_stores_at_once() -> None:
    stores = Stores()
    assert stores.together.wait("key", [4], stores.store)
    assert stores.batches == [[4]]


def test_others_do_not_wait_for_another_key() -> None:
    together = Together[int]()
    assert together.begin("one")
    assert together.begin("other")
    assert not together.begin("one")
    together.end("one")
    assert together.begin("one")
