"""Addresses to which nothing is answered for a while."""

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

from games.accounts.blocks import BLOCKS, hash_read
from games.accounts.identity import address_of, address_text
from games.admin.base import Counted
from games.limits.addresses import network_of
from games.models import AddressBlock

LASTS = {"1": "an hour", "24": "a day", "168": "a week", "720": "30 days"}
"""Hours, and what they are called. None lasts longer: addresses go to other people."""
WIDEST = {4: 8, 6: 16}
"""No network with fewer bits than these is blocked: it would be a good part of the world."""


class BlockForm(forms.ModelForm):
    """Whom to block, for how long, and why."""

    lasts = forms.ChoiceField(label="For", choices=list(LASTS.items()), initial="24")
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
    """Who asks; set by the admin."""

    def clean_network(self) -> str:
        """The text as it is kept: a network in its shortest form, or a hash."""
        text: str = self.cleaned_data["network"]
        hashed = hash_read(text)
        if hashed is not None:
            return hashed
        network = network_of(text)
        if network is None:
            raise forms.ValidationError("This is not an address, a network or a hash of an address.")
        if network.prefixlen < WIDEST[network.version]:
            raise forms.ValidationError(f"Too wide: a network has at least /{WIDEST[network.version]}.")
        if network.is_loopback or ip_address("::1") in network:
            raise forms.ValidationError(
                "This is the address of the site itself. It checks from there whether the site is well."
            )
        return str(network.network_address if network.num_addresses == 1 else network)

    def clean(self) -> dict[str, object]:
        """Ask once more before somebody locks themselves out."""
        data = super().clean() or self.cleaned_data
        if "network" in data and not data.get("is_own") and self._holds_asker(data["network"]):
            self.add_error("is_own", "This address is yours. Tick this if you mean it.")
        return data

    def _holds_asker(self, text: str) -> bool:
        network = network_of(text)
        if network is None:
            return address_of(self.request) == text
        asker = network_of(address_text(self.request))
        return asker is not None and asker.version == network.version and asker.network_address in network

    def save(self, commit: bool = True) -> AddressBlock:
        """With who blocks, and until when."""
        block: AddressBlock = super().save(commit=False)
        block.created_by = self.request.user
        block.expires_at = timezone.now() + timedelta(hours=int(self.cleaned_data["lasts"]))
        if commit:
            block.save()
        return block


@admin.register(AddressBlock)
class AddressBlockAdmin(Counted):
    """Addresses that are blocked. This process knows at once, the others within five seconds."""

    form = BlockForm
    fields = ("network", "lasts", "reason", "is_own")
    list_display = ("network", "until", "reason", "created_by", "created_at")
    list_select_related = ("created_by",)
    search_fields = ("network__startswith", "reason")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """One that was wrong is taken away, and another made: so the log says everything."""
        return False

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The form, which knows who asks."""
        return type("BlockForm", (super().get_form(request, obj, change, **kwargs),), {"request": request})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What is asked for, or of one that there is what is known."""
        return self.fields if obj is None else ("network", "reason", "created_by", "created_at", "expires_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Everything of one that there is."""
        return () if obj is None else self.get_fields(request, obj)

    @admin.display(description="until", ordering="expires_at")
    def until(self, block: AddressBlock) -> str:
        """When it ends, or that it has."""
        if block.expires_at <= timezone.now():
            return "over"
        return f"{timezone.localtime(block.expires_at):%a %d %b %Y %H:%M} UTC"

    def save_model(self, request: HttpRequest, obj: AddressBlock, form: Any, change: bool) -> None:
        """Store it, and put it in force here."""
        super().save_model(request, obj, form, change)
        transaction.on_commit(BLOCKS.read)

    def delete_model(self, request: HttpRequest, obj: AddressBlock) -> None:
        """Let the address in again."""
        super().delete_model(request, obj)
        transaction.on_commit(BLOCKS.read)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[AddressBlock]) -> None:
        """Let them in again."""
        super().delete_queryset(request, queryset)
        transaction.on_commit(BLOCKS.read)
