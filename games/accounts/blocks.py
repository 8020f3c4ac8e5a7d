"""Blocked addresses, held in memory, so that a move needs no query for the check.

A process reads the blocks at its start and then every :data:`BLOCKS_MAX_AGE_S` seconds
(``menace_site.server.lifespan``). During a database outage the blocks that were read last stay in force.
"""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from games.accounts.identity import client_address_text, origin_hash, request_of_scope
from games.limits.addresses import network_of, parse_address
from games.models import AddressBlock

BLOCKS_MAX_AGE_S = 5.0
N_HASH_CHARACTERS = 32


def parse_hash(text: str) -> str | None:
    """Return a text in lower case if it is an address hash (``games.accounts.identity.origin_hash``), else ``None``."""
    text = text.strip().lower()
    return text if len(text) == N_HASH_CHARACTERS and set(text) <= set("0123456789abcdef") else None


class Blocks:
    """Blocked networks and address hashes, as last read from the database."""

    def __init__(self) -> None:
        # The network parts of blocked networks, by IP version and number of host bits.
        self._networks: dict[tuple[int, int], set[int]] = {}
        self.hashes: frozenset[str] = frozenset()
        self.is_empty = True

    def put(self, texts: list[str]) -> None:
        """Replace all blocks by ``texts``, each a network or an address hash."""
        networks: dict[tuple[int, int], set[int]] = {}
        for text in texts:
            if (network := network_of(text)) is None:
                continue
            n_host_bits = network.max_prefixlen - network.prefixlen
            network_part = int(network.network_address) >> n_host_bits
            networks.setdefault((network.version, n_host_bits), set()).add(network_part)
        self._networks = networks
        self.hashes = frozenset(filter(None, map(parse_hash, texts)))
        self.is_empty = not texts

    def read(self) -> None:
        """Read the blocks in force from the database."""
        self.put(list(AddressBlock.objects.filter(expires_at__gt=timezone.now()).values_list("network", flat=True)))

    def holds(self, text: str) -> bool:
        """Whether an address lies in a blocked network, by one look-up for each prefix length in use."""
        if (address := parse_address(text)) is None:
            return False
        number = int(address)
        return any(
            version == address.version and number >> n_host_bits in network_parts
            for (version, n_host_bits), network_parts in self._networks.items()
        )


BLOCKS = Blocks()
"""The blocks of this process, read again every :data:`BLOCKS_MAX_AGE_S` seconds."""


def is_blocked(scope: dict[str, Any]) -> bool:
    """Whether a block names the address of a request or socket, or the hash of that address.

    Usually no address is blocked. Then the cost is one test of a flag for each request and frame.
    """
    if BLOCKS.is_empty:
        return False
    request = request_of_scope(scope)
    if BLOCKS.holds(client_address_text(request)):
        return True
    return bool(BLOCKS.hashes) and origin_hash(request) in BLOCKS.hashes
