"""Admin of temporarily blocked addresses and networks."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_address
from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from games.accounts.blocks import BLOCKS, parse_hash
from games.accounts.identity import client_address_text, origin_hash
from games.admin.base import CappedListAdmin
from games.limits.addresses import network_of
from games.models import AddressBlock

DURATION_LABELS = {"1": "an hour", "24": "a day", "168": "a week", "720": "30 days"}
"""Durations of a block: hours and label. The longest is 30 days, since providers reassign addresses to other people."""
MIN_PREFIX_BITS = {4: 8, 6: 16}
"""Fewest prefix bits of a blocked network, by IP version. A wider network would cover a large part of the Internet."""


class BlockForm(forms.ModelForm):
    """Address, duration and reason of a new block."""

    lasts = forms.ChoiceField(label="For", choices=list(DURATION_LABELS.items()), initial="24")
    is_own = forms.BooleanField(
        label="Block my own address",
        required=False,
        help_text="Tick this only if you mean it. You will not reach this page until the time is over.",
    )

    class Meta:
        model = AddressBlock
        fields = ("network", "reason")
        help_texts = {
            "network": f"{AddressBlock._meta.get_field('network').help_text} Of an IPv6 address the whole /64 is"
            " blocked. It belongs to one visitor."
        }

    request: Any = None
    """The current request; ``AddressBlockAdmin.get_form`` sets it."""

    def clean_network(self) -> str:
        """Return the text as it is stored: a network in its shortest spelling, or an address hash."""
        text: str = self.cleaned_data["network"]
        address_hash = parse_hash(text)
        if address_hash is not None:
            return address_hash
        network = network_of(text)
        if network is None:
            raise forms.ValidationError("This is not an address, a network or a hash of an address.")
        if network.prefixlen < MIN_PREFIX_BITS[network.version]:
            raise forms.ValidationError(f"Too wide: a network has at least /{MIN_PREFIX_BITS[network.version]}.")
        if network.is_loopback or ip_address("::1") in network:
            raise forms.ValidationError(
                "This is the address of the site itself. It checks from there whether the site is well."
            )
        return str(network.network_address if network.num_addresses == 1 else network)

    def clean(self) -> dict[str, object]:
        """Require a confirmation for a block of the user's own address."""
        data = super().clean() or self.cleaned_data
        if "network" in data and not data.get("is_own") and self._is_own_address(data["network"]):
            self.add_error("is_own", "This address is yours. Tick this if you mean it.")
        return data

    def _is_own_address(self, text: str) -> bool:
        network = network_of(text)
        if network is None:
            return origin_hash(self.request) == text
        own_network = network_of(client_address_text(self.request))
        return (
            own_network is not None
            and own_network.version == network.version
            and own_network.network_address in network
        )

    def save(self, commit: bool = True) -> AddressBlock:
        """Add the author and the end of the block."""
        block: AddressBlock = super().save(commit=False)
        block.created_by = self.request.user
        block.expires_at = timezone.now() + timedelta(hours=int(self.cleaned_data["lasts"]))
        if commit:
            block.save()
        return block


@admin.register(AddressBlock)
class AddressBlockAdmin(CappedListAdmin):
    """Blocked addresses. A change applies in this process at once, and in other processes within five seconds."""

    form = BlockForm
    fields = ("network", "lasts", "reason", "is_own")
    list_display = ("network", "until", "reason", "created_by", "created_at")
    list_select_related = ("created_by",)
    search_fields = ("network__startswith", "reason")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return ``False``: a wrong block is deleted and made anew, so that the log shows every block."""
        return False

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form class with the request bound to it."""
        return type("BlockForm", (super().get_form(request, obj, change, **kwargs),), {"request": request})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the input fields of a new block, or all stored fields of an existing block."""
        return self.fields if obj is None else ("network", "reason", "created_by", "created_at", "expires_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return all fields for an existing block, which is read-only, and none for a new block."""
        return () if obj is None else self.get_fields(request, obj)

    @admin.display(description="until", ordering="expires_at")
    def until(self, block: AddressBlock) -> str:
        """Return the end of the block, or ``over``."""
        if block.expires_at <= timezone.now():
            return "over"
        return f"{timezone.localtime(block.expires_at):%a %d %b %Y %H:%M} UTC"

    def save_model(self, request: HttpRequest, obj: AddressBlock, form: Any, change: bool) -> None:
        """Save the block, and apply it in this process after the commit."""
        super().save_model(request, obj, form, change)
        transaction.on_commit(BLOCKS.read)

    def delete_model(self, request: HttpRequest, obj: AddressBlock) -> None:
        """Delete the block, and lift it in this process after the commit."""
        super().delete_model(request, obj)
        transaction.on_commit(BLOCKS.read)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[AddressBlock]) -> None:
        """Delete the blocks, and lift them in this process after the commit."""
        super().delete_queryset(request, queryset)
        transaction.on_commit(BLOCKS.read)
