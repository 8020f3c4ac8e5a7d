"""Admin of account tokens, which staff can revoke."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from games.accounts.tokens import token_revoke
from games.admin.base import LargeTableAdmin, NameSearch, ReadOnly, log_each
from games.models import ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(NameSearch, ReadOnly, LargeTableAdmin):
    """Tokens, shown by their prefix only. Tokens that must stop working are revoked, not deleted."""

    list_display = ("prefix", "name", "user", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("prefix", "user__account_name__search__contains")
    exclude = ("sha256",)
    indexed_parameters = ("q",)
    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Whether the user may revoke tokens: the permission to change them suffices."""
        return request.user.has_perm("games.change_apitoken")

    @admin.action(description="Revoke the selected tokens", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """Revoke the selected tokens that are not yet revoked."""
        tokens = list(queryset.filter(revoked_at__isnull=True).select_related("user"))
        for token in tokens:
            token_revoke(user=token.user, token_id=token.pk)
        log_each(request, tokens, "Revoked.")
        self.message_user(request, f"Tokens revoked: {len(tokens)}.")
