"""Tokens: pages, storage as a hash, scopes, expiry and revocation, and the permissions of a request with a token."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient
from rest_framework.throttling import SimpleRateThrottle

from games.accounts import tokens
from games.exceptions import (
    MalformedError,
    TokenExpiredError,
    TokenInvalidError,
    TokenNotFoundError,
    TokenRevokedError,
    TokenScopeError,
    TooManyTokensError,
)
from games.models import ApiToken, Seat
from tests.factories import api_with, user

pytestmark = pytest.mark.django_db

ALL_SCOPES = ["read", "play", "train"]


def make_token(account: Any, scopes: list[str] | None = None, lifetime: timedelta | None = None) -> str:
    return tokens.token_make(user=account, name="a script", scopes=scopes or ALL_SCOPES, lifetime=lifetime)[1]


def test_only_the_hash_and_the_start_of_a_token_are_stored() -> None:
    text = make_token(user())
    (token,) = ApiToken.objects.all()
    row_text = " ".join(str(value) for value in ApiToken.objects.values_list().get())
    start, secret = text[:18], text[18:]
    assert (start, len(secret)) == (f"bead_{token.prefix}_", 43)
    assert secret not in row_text
    assert tokens.token_read(text=text) == token


@pytest.mark.parametrize("damage", ["", "x", "bead_", "bead__", "swap", "last", "no start", "nul"])
def test_damaged_tokens_are_refused(damage: str) -> None:
    text = make_token(user())
    prefix = text[:18]
    damaged = {
        "swap": prefix + text[18:][::-1],
        "last": text[:-1] + ("A" if text[-1] != "A" else "B"),
        "no start": text.removeprefix("bead_"),
        "nul": "bead_\0_" + text[18:],
    }.get(damage, damage)
    with pytest.raises(TokenInvalidError):
        tokens.token_read(text=damaged)


def test_tokens_end_by_time_revocation_and_closed_account() -> None:
    owner = user()
    expired_token, revoked_token, token_of_closed_account = (
        make_token(owner, lifetime=timedelta(days=1)),
        make_token(owner),
        make_token(owner),
    )
    ApiToken.objects.filter(expires_at__isnull=False).update(expires_at=timezone.now())
    with pytest.raises(TokenExpiredError):
        tokens.token_read(text=expired_token)
    tokens.token_revoke(user=owner, token_id=tokens.token_read(text=revoked_token).pk)
    with pytest.raises(TokenRevokedError):
        tokens.token_read(text=revoked_token)
    owner.is_active = False
    owner.save()
    with pytest.raises(TokenInvalidError):
        tokens.token_read(text=token_of_closed_account)


def test_only_the_owner_revokes_a_token_and_only_once() -> None:
    owner, other = user("owner"), user("other")
    token = tokens.token_read(text=make_token(owner))
    with pytest.raises(TokenNotFoundError):
        tokens.token_revoke(user=other, token_id=token.pk)
    tokens.token_revoke(user=owner, token_id=token.pk)
    with pytest.raises(TokenNotFoundError):
        tokens.token_revoke(user=owner, token_id=token.pk)


def test_scopes_must_be_known_and_not_empty() -> None:
    owner = user()
    for scopes in ([], ["admin"], ["read", "admin"]):
        with pytest.raises(MalformedError, match="scopes"):
            tokens.token_make(user=owner, name="x", scopes=scopes, lifetime=None)
    token = tokens.token_read(text=make_token(owner, ["read"]))
    for invalid_scopes in ([], ["admin"]):
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiToken.objects.filter(pk=token.pk).update(scopes=invalid_scopes)
    with pytest.raises(TokenScopeError):
        tokens.token_read(text=make_token(owner, ["read"]), scope="train")


def test_valid_tokens_of_an_account_have_a_limit() -> None:
    owner = user()
    for _ in range(tokens.MAX_TOKENS):
        make_token(owner)
    with pytest.raises(TooManyTokensError):
        make_token(owner)
    tokens.token_revoke(user=owner, token_id=ApiToken.objects.filter(user=owner).first().pk)
    assert make_token(owner)


def test_the_use_of_a_token_is_recorded_at_intervals(django_assert_num_queries: Any) -> None:
    text = make_token(user())
    tokens.token_read(text=text)
    recorded_at = ApiToken.objects.get().last_used_at
    assert recorded_at is not None
    with django_assert_num_queries(1):
        tokens.token_read(text=text)
    ApiToken.objects.update(last_used_at=recorded_at - timedelta(minutes=2))
    tokens.token_read(text=text)
    assert ApiToken.objects.get().last_used_at > recorded_at - timedelta(seconds=1)


def test_a_request_with_a_token_plays_for_its_account() -> None:
    owner = user()
    api = api_with(owner, "play", "read")
    response = api.post("/api/rooms", {"opponent": "perfect"})
    assert response.status_code == 201
    assert Seat.objects.get(user=owner).side == 0
    assert api.post(f"/api/rooms/{response.json()['code']}/move", {"position": 5}).status_code == 200
    assert APIClient().post(f"/api/rooms/{response.json()['code']}/move", {"position": 1}).status_code == 403


@pytest.mark.parametrize(
    ("scopes", "method", "status"),
    [
        (["read"], "post", 403),
        (["train"], "post", 403),
        (["play"], "get", 403),
        (["read"], "get", 200),
        (["play"], "post", 201),
    ],
)
def test_scopes_limit_a_token(scopes: list[str], method: str, status: int) -> None:
    api = api_with(user(), *scopes)
    response = api.post("/api/rooms", {"opponent": "perfect"}) if method == "post" else api.get("/api/games")
    assert response.status_code == status
    if status == 403:
        assert response.json()["code"] == "scope_missing"


@pytest.mark.parametrize("fault", ["unknown", "expired", "revoked"])
def test_an_invalid_token_is_not_treated_as_a_guest(fault: str) -> None:
    text = make_token(user(), lifetime=timedelta(days=1))
    if fault == "unknown":
        text += "x"
    if fault == "expired":
        ApiToken.objects.update(expires_at=timezone.now())
    if fault == "revoked":
        ApiToken.objects.update(revoked_at=timezone.now())
    response = APIClient(headers={"Authorization": f"Bearer {text}"}).get("/api/games")
    code = {"unknown": "token_invalid", "expired": "token_expired", "revoked": "token_revoked"}[fault]
    assert (response.status_code, response.json()["code"]) == (401, code)
    assert response["WWW-Authenticate"] == "Bearer"
    assert text not in response.content.decode()


@pytest.mark.parametrize("scheme", ["Token ", ""])
def test_refusal_of_another_scheme_names_the_right_header(scheme: str) -> None:
    api = APIClient(headers={"Authorization": f"{scheme}{make_token(user())}"})
    response = api.get("/api/games")
    assert response.status_code == 401
    assert "Authorization: Bearer, then a space and the token" in response.json()["detail"]
    assert APIClient(headers={"Authorization": "Basic eDp5"}).get("/api/games").status_code == 200


def test_guests_accounts_and_tokens_have_separate_rates(monkeypatch: Any) -> None:
    from django.core.cache import cache

    cache.clear()
    rates = {**SimpleRateThrottle.THROTTLE_RATES, "api": "2/min"}
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)
    owner = user()
    session = APIClient()
    session.force_login(owner)
    for client in (APIClient(), session, api_with(owner, "read"), api_with(owner, "read")):
        assert [client.get("/api/games").status_code for _ in range(3)] == [200, 200, 429]
    refused = session.get("/api/games")
    assert refused.json()["code"] == "throttled"
    assert int(refused["Retry-After"]) > 0
    cache.clear()


def test_the_page_shows_a_new_token_once(client: Any) -> None:
    owner = user()
    assert client.get("/account/tokens").status_code == 302
    client.force_login(owner)
    page = client.post("/account/tokens", {"name": "a robot", "scopes": ["read", "train"], "days": "30"})
    token = ApiToken.objects.get()
    text = page.context["new_token_text"]
    assert tokens.token_read(text=text) == token
    assert (text in page.content.decode(), page["Cache-Control"].find("no-store") >= 0) == (True, True)
    assert token.scopes == ["read", "train"]
    assert 29 < (token.expires_at - timezone.now()).days + 1 <= 30
    later_page = client.get("/account/tokens").content.decode()
    assert (text in later_page, token.prefix in later_page, "a robot" in later_page) == (False, True, True)
    client.post(f"/account/tokens/{token.pk}/revoke")
    assert token.prefix not in client.get("/account/tokens").content.decode()
    with pytest.raises(TokenRevokedError):
        tokens.token_read(text=text)


@pytest.mark.parametrize("invalid_field", [{"name": ""}, {"scopes": []}, {"scopes": ["admin"]}, {"days": "7000"}])
def test_an_invalid_form_makes_no_token(client: Any, invalid_field: dict[str, Any]) -> None:
    client.force_login(user())
    page = client.post("/account/tokens", {"name": "a robot", "scopes": ["read"], "days": "30", **invalid_field})
    assert page.status_code == 400
    assert next(iter(invalid_field)) in page.context["form"].errors
    assert not ApiToken.objects.exists()


def test_the_page_refuses_foreign_tokens_and_too_many(client: Any) -> None:
    owner, other = user("owner"), user("other")
    token = tokens.token_read(text=make_token(owner))
    client.force_login(other)
    client.post(f"/account/tokens/{token.pk}/revoke")
    token.refresh_from_db()
    assert token.revoked_at is None
    for _ in range(tokens.MAX_TOKENS):
        make_token(other)
    page = client.post("/account/tokens", {"name": "one more", "scopes": ["read"], "days": ""})
    assert (page.status_code, "Revoke one first" in page.content.decode()) == (400, True)


def test_a_post_with_a_session_needs_a_csrf_token() -> None:
    api = APIClient(enforce_csrf_checks=True)
    api.force_login(user())
    refused = api.post("/api/rooms", {"opponent": "perfect"})
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")


def test_only_the_newest_invalid_tokens_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_ENDED_TOKENS", 2)
    owner, other = user(), user("other")
    make_token(other)
    ApiToken.objects.update(revoked_at=timezone.now())
    make_token(owner)
    for _ in range(4):
        make_token(owner, lifetime=timedelta(days=-1))
        make_token(owner)
        tokens.token_revoke(user=owner, token_id=ApiToken.objects.latest("pk").pk)
    assert ApiToken.objects.filter(user=other).count() == 1
    assert make_token(owner)
    remaining_tokens = ApiToken.objects.filter(user=owner).order_by("pk")
    assert [(one.revoked_at is not None, one.is_expired) for one in remaining_tokens] == [
        (False, False),
        (False, True),
        (True, False),
        (False, False),
    ]
