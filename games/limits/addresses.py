"""Client addresses in the forms in which proxies, servers and people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
NETWORK_BITS = 64
"""Prefix length of an IPv6 network that belongs to one client."""
BRACKETS = re.compile(r"\[([^\[\]]*)\](?::[0-9]*)?")
PORT = re.compile(r":[0-9]*$")


def parse_address(text: str) -> Address | None:
    """Return the address that a text contains; ``None`` for a text without an address, such as a Unix socket's peer.

    Ports, brackets, quotes, blanks and IPv6 zones are removed. IPv4-mapped IPv6 addresses become IPv4.
    """
    text = text.strip(' \t"')
    bare = BRACKETS.sub(r"\1", text) if BRACKETS.fullmatch(text) else text
    bare = bare.partition("%")[0]
    for candidate in (bare, PORT.sub("", bare)):
        try:
            address = ip_address(candidate)
        except ValueError:
            continue
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        return mapped or address
    return None


def client_address(peer: str, forwarded: str, n_proxies: int) -> Address | None:
    """Return the address of the client behind ``n_proxies`` proxies.

    If the entry for the client is no address, the result is the next address in the chain: the address of a proxy.

    Args:
        peer: address of the other end of the connection.
        forwarded: value of X-Forwarded-For, to which each proxy has appended one entry.
        n_proxies: number of proxies in front of the site.
    """
    chain: Sequence[str] = [*(forwarded.split(",")[-n_proxies:] if n_proxies else ()), peer]
    return next((address for address in map(parse_address, chain) if address is not None), None)


def address_key(address: Address | None) -> str:
    """Return the text by which a client is counted: its IPv4 address, or the first address of its IPv6 network.

    Without an address the text is empty.
    """
    if address is None:
        return ""
    if address.version == 4:
        return str(address)
    return str(ip_network((address, NETWORK_BITS), strict=False).network_address)


def network_of(text: str) -> IPv4Network | IPv6Network | None:
    """Return the network that a text names; ``None`` if the text names neither a network nor an address.

    A single IPv4 address is a network of one address. An IPv6 address, or a network with more than 64 prefix bits,
    becomes the network of 64 bits, since such a network belongs to one client. Loopback addresses are the exception.
    """
    address = parse_address(text)
    try:
        network = ip_network(text.strip() if address is None else address, strict=False)
    except ValueError:
        return None
    if network.version == 6 and network.prefixlen >= 96 and network.network_address.ipv4_mapped is not None:
        return IPv4Network((network.network_address.ipv4_mapped, network.prefixlen - 96), strict=False)
    if network.version == 6 and network.prefixlen > NETWORK_BITS and not network.is_loopback:
        return network.supernet(new_prefix=NETWORK_BITS)
    return network
