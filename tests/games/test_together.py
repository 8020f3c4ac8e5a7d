"""Group commit: one thread stores for all threads that wait on the same key."""

import threading
from collections.abc import Sequence

from games.transport.group_commit import GroupCommit
from tests.waiting import HANG_S, wait_until


class NumberStore:
    """A store of numbers: 0 blocks, 7 is not stored, and the number ``failing_number`` raises an error."""

    def __init__(self, failing_number: int = -1) -> None:
        self.group_commit = GroupCommit[int]()
        self.may_continue = threading.Event()
        self.batches: list[list[int]] = []
        self.results: dict[int, bool | Exception] = {}
        self.failing_number = failing_number

    def store_one(self, number: int) -> None:
        try:
            self.results[number] = self.group_commit.store("key", number, self.store)
        except ValueError as error:
            self.results[number] = error

    def store(self, items: Sequence[int]) -> Sequence[int]:
        self.batches.append(list(items))
        if 0 in items:
            assert self.may_continue.wait(HANG_S)
        if self.failing_number in items:
            raise ValueError("this one cannot be stored")
        return [item for item in items if item != 7]

    def run(self, *numbers: int) -> None:
        threads = [threading.Thread(target=self.store_one, args=(0,))]
        threads[0].start()
        assert wait_until(lambda: bool(self.batches))
        for n_before, number in enumerate(numbers):
            threads.append(threading.Thread(target=self.store_one, args=(number,)))
            threads[-1].start()
            assert wait_until(lambda: len(self.group_commit._waiting["key"]) > n_before)  # noqa: B023 - called at once
        self.may_continue.set()
        for thread in threads:
            thread.join(HANG_S)
        assert not self.group_commit._waiting


def test_the_first_waiter_stores_for_all() -> None:
    stores = NumberStore()
    stores.run(1, 2, 3)
    assert stores.batches == [[0], [1, 2, 3]]
    assert stores.results == {0: True, 1: True, 2: True, 3: True}


def test_a_value_that_was_not_stored_is_reported() -> None:
    stores = NumberStore()
    stores.run(1, 7)
    assert stores.results == {0: True, 1: True, 7: False}


def test_failed_group_commit_reports_to_every_waiter() -> None:
    stores = NumberStore(failing_number=2)
    stores.run(1, 2, 3)
    assert stores.results == {0: True, 1: False, 2: False, 3: False}


def test_a_single_writer_gets_its_error() -> None:
    stores = NumberStore(failing_number=0)
    stores.run(1)
    assert isinstance(stores.results[0], ValueError)
    assert stores.results[1] is True


def test_different_keys_do_not_wait_for_each_other() -> None:
    group_commit = GroupCommit[int]()

    def store(items: Sequence[int]) -> Sequence[int]:
        if items == [1]:
            assert group_commit.store("other", 2, store)
        return items

    assert group_commit.store("one", 1, store)
