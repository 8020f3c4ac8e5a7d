"""Client addresses in the forms in which proxies, servers and people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
NETWORK_BITS = 64
"""Prefix length of the IPv6 network of one client, which owns all addresses in it."""
BRACKETS = re.compile(r"\[([^\[\]]*)\](?::[0-9]*)?")
PORT = re.compile(r":[0-9]*$")


def address_read(text: str) -> Address | None:
    """Return the address in a text; ``None`` if there is none, as for the peer of a Unix socket.

    Ports, brackets, quotes, blanks and IPv6 zones are removed. IPv4-mapped IPv6 addresses become IPv4.
    """
    text = text.strip(' \t"')
    bare = BRACKETS.sub(r"\1", text) if BRACKETS.fullmatch(text) else text
    bare = bare.partition("%")[0]
    for way in (bare, PORT.sub("", bare)):
        try:
            address = ip_address(way)
        except ValueError:
            continue
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        return mapped or address
    return None


def client_address(peer: str, forwarded: str, n_proxies: int) -> Address | None:
    """Return the address of the client behind ``n_proxies`` proxies, each with one entry in ``forwarded``.

    An entry that is no address counts for the proxy that wrote it, whose own address is the next entry.
    """
    way: Sequence[str] = [*(forwarded.split(",")[-n_proxies:] if n_proxies else ()), peer]
    return next((address for address in map(address_read, way) if address is not None), None)


def address_counted(address: Address | None) -> str:
    """Return the text by which a client is counted: an IPv4 address, or the first address of an IPv6 network.

    The text is empty without an address.
    """
    if address is None:
        return ""
    if address.version == 4:
        return str(address)
    return str(ip_network((address, NETWORK_BITS), strict=False).network_address)


def network_of(text: str) -> IPv4Network | IPv6Network | None:
    """Return the network that a text names, which may be a single address; ``None`` if the text names no network.

    An IPv6 network has at most 64 prefix bits, since a client has a whole such network. Loopback is the exception.
    """
    address = address_read(text)
    try:
        network = ip_network(text.strip() if address is None else address, strict=False)
    except ValueError:
        return None
    if network.version == 6 and network.prefixlen >= 96 and network.network_address.ipv4_mapped is not None:
        return IPv4Network((network.network_address.ipv4_mapped, network.prefixlen - 96), strict=False)
    if network.version == 6 and network.prefixlen > NETWORK_BITS and not network.is_loopback:
        return network.supernet(new_prefix=NETWORK_BITS)
    return network
