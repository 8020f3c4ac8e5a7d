"""Blocked addresses, held in memory, so that the check costs a move no query.

A process reads them at its start and again every :data:`READ_AGAIN_S` (``menace_site.server.lifespan``). While the
database is away, the blocks read last stay in force.
"""

from __future__ import annotations

from django.utils import timezone

from games.limits.addresses import address_read, network_of
from games.models import AddressBlock

READ_AGAIN_S = 5.0
HASH_CHARACTERS = 32


def hash_read(text: str) -> str | None:
    """Return the address hash (``games.accounts.identity.origin_hash``) that the text is; ``None`` if it is none."""
    text = text.strip().lower()
    return text if len(text) == HASH_CHARACTERS and set(text) <= set("0123456789abcdef") else None


class Blocks:
    """Blocked networks and address hashes, as last read from the database."""

    def __init__(self) -> None:
        self._networks: dict[tuple[int, int], set[int]] = {}
        self.hashes: frozenset[str] = frozenset()
        self.is_empty = True

    def put(self, texts: list[str]) -> None:
        """Replace the blocks by these networks and hashes."""
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
        """Read the blocks in force from the database."""
        self.put(list(AddressBlock.objects.filter(expires_at__gt=timezone.now()).values_list("network", flat=True)))

    def holds(self, text: str) -> bool:
        """Whether an address lies in a blocked network. One look-up per prefix length in use."""
        if (address := address_read(text)) is None:
            return False
        number = int(address)
        return any(
            version == address.version and number >> shift in firsts
            for (version, shift), firsts in self._networks.items()
        )


BLOCKS = Blocks()
"""The blocks of this process, read again every :data:`READ_AGAIN_S` seconds."""
