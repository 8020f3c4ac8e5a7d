"""Addresses to which nothing is answered, held in memory: to ask costs a move nothing, and no database.

A process reads them when it starts and again every :data:`READ_AGAIN_S` (``menace_site.server.lifespan``). With the
database away those that were read last stay in force.
"""

from __future__ import annotations

from django.utils import timezone

from games.limits.addresses import address_read, network_of
from games.models import AddressBlock

READ_AGAIN_S = 5.0
HASH_CHARACTERS = 32


def hash_read(text: str) -> str | None:
    """The hash of an address (``games.accounts.identity.address_of``) that a text is; ``None`` if it is none."""
    text = text.strip().lower()
    return text if len(text) == HASH_CHARACTERS and set(text) <= set("0123456789abcdef") else None


class Blocks:
    """What is blocked, as it was last read."""

    def __init__(self) -> None:
        self._networks: dict[tuple[int, int], set[int]] = {}
        self.hashes: frozenset[str] = frozenset()
        self.is_empty = True

    def put(self, texts: list[str]) -> None:
        """These are blocked from now on, and nothing else."""
        networks: dict[tuple[int, int], set[int]] = {}
        for text in texts:
            if (network := network_of(text)) is None:
                continue
            shift = network.max_prefixlen - network.prefixlen
            first = int(network.network_address) >> shift
            networks.setdefault((network.version, shift), set()).add(first)
        self._networks = networks
        self.hashes = frozenset(filter(None, map(hash_read, texts)))
        self.is_empty = not texts

    def read(self) -> None:
        """Read them again."""
        self.put(list(AddressBlock.objects.filter(expires_at__gt=timezone.now()).values_list("network", flat=True)))

    def holds(self, text: str) -> bool:
        """Whether an address lies in a network that is blocked: one look-up for each length of these."""
        if (address := address_read(text)) is None:
            return False
        number = int(address)
        return any(
            version == address.version and number >> shift in firsts
            for (version, shift), firsts in self._networks.items()
        )


BLOCKS = Blocks()
"""Those of this process."""
