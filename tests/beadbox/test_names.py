"""Names of accounts: comparison, search, refused names, and accounts with equal names."""

import unicodedata
from collections.abc import Callable
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.apps import apps
from django.contrib.auth import authenticate, get_user_model
from django.core import mail
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client, RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from beadbox.names import IGNORABLE, name_key, name_problem, name_search
from games.accounts.account_names import account_get_by_name
from games.models import AccountName
from tests import factories
from tests.threads import at_once

PASSWORD = "a good password"
EQUAL_NAMES = [
    ("müller7", "MÜLLER7"),
    ("müller7", unicodedata.normalize("NFD", "Müller7")),
    ("straße", "STRASSE"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ("Ada", "Ａｄａ"),
    ("матрица", "МАТРИЦА"),
    ("file", "ﬁle"),
    ("ᾳ", "ΑΙ"),
    ("Ada  B", " ada b"),
    ("ada", "a\u200dd\u034fa"),
    ("Đặng", unicodedata.normalize("NFD", "đẶNG")),
]
VISIBLE_NAMES = [
    "Ada",
    "7",
    "…",
    "汉字",
    "עברית",
    "العربية",
    "हिन्दी",
    "می\u200cخواهم",
    "क्\u200dष",
    "👩\u200d👩\u200d👧",
    "❤\ufe0f",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "e\u0301",
    "\U0001fae8",  # newer than the Unicode of Python 3.11
    "⠁⠙⠁",
    "\u06dd",
]
INVISIBLE_NAMES = [
    *("", " ", "\u3000", "\u200b", "\u200d", "\u3164", "\u115f\u1160", "\uffa0", "\u2800", "\u0301\u0302"),
    *("\ufe0f", "\u034f", "\u00ad", "\ufeff", "\u2028", "\ufffc", "\U000e0100", "\u20dd"),
]
NAMES_WITH_CONTROL_CHARACTERS = [
    *("a\u202eb", "\u200fa", "a\u2066b\u2069", "\u061ca", "a\tb", "a\nb", "a\x00", "a\x7f", "a\u0085", "a\u2029b"),
    *("ad\u200ba", "a\u3164", "ad\u00ada", "\ufeffada", "a\u200d", "\u200cada", "a \u200db", "a\U000e0041", "a\ufffe"),
    *("a\ud800", "a\u2060b", "a\ufff9b"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL_NAMES)
def test_equal_names_have_one_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


def test_different_names_have_different_keys() -> None:
    names = ["muller7", "müller7", "mueller7", "muller 7", "мuller7"]
    assert len({name_key(name) for name in names}) == len(names)


@given(st.text())
def test_name_keys_are_stable_and_ignore_case_and_normal_form(text: str) -> None:
    key = name_key(text)
    assert name_key(key) == key
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert name_key(unicodedata.normalize(form, text)) == key
    assert name_key(text.casefold()) == key
    assert not IGNORABLE.search(key)
    assert name_search(name_search(text)) == name_search(text) == name_search(key)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("arger", "Ärger"),
        ("lodz zolw", "Łódź żółw"),
        ("tieng viet", "Tiếng Việt"),
        ("orsted", "ØRSTED"),
        ("ελλ", "Έλλη"),
    ],
)
def test_search_ignores_accents(typed: str, name: str) -> None:
    for text in (typed, name, name.upper(), unicodedata.normalize("NFD", name)):
        assert name_search(text) in name_search(name)


@pytest.mark.parametrize(("one", "other"), [("กิน", "กัน"), ("कि", "कु"), ("เก็บ", "เกบ")])
def test_search_does_not_ignore_vowels_of_other_scripts(one: str, other: str) -> None:
    assert name_search(one) not in name_search(other)


@pytest.mark.parametrize(("typed", "name"), [("שלום", "שָׁלוֹם"), ("محمد", "مُحَمَّد")])
def test_search_ignores_vowel_points(typed: str, name: str) -> None:
    assert name_search(typed) == name_search(name)


@pytest.mark.parametrize("name", VISIBLE_NAMES)
def test_names_in_any_script_are_accepted(name: str) -> None:
    assert name_problem(name) == ""


@pytest.mark.parametrize("name", [*INVISIBLE_NAMES, *NAMES_WITH_CONTROL_CHARACTERS])
def test_invisible_names_have_a_problem(name: str) -> None:
    assert name_problem(name)


def sign_up(name: str) -> dict[str, Any]:
    """Sign up on the page and return the errors of the form."""
    form = {"username": name, "email": "", "password1": PASSWORD, "password2": PASSWORD}
    answer = Client().post("/signup", form)
    return {} if answer.status_code == 302 else answer.context["form"].errors


def log_in(name: str, password: str = PASSWORD, client: Client | None = None) -> int:
    """Log in on the page and return the status of the answer."""
    return (client or Client()).post("/login", {"username": name, "password": password}).status_code


@pytest.fixture
def legacy_accounts() -> tuple[Any, Any]:
    """Create two accounts with equal names, as they were before names were normalised."""
    accounts = get_user_model().objects
    people = [accounts.model(username=name) for name in ("müller7", "MÜLLER7")]
    for account in people:
        account.set_password(f"{PASSWORD} of {account.username}")
    accounts.bulk_create(people)
    return people[0], people[1]


@pytest.mark.django_db
class TestAccounts:
    @pytest.mark.parametrize(
        ("one", "other"), [pair for pair in EQUAL_NAMES if " " not in pair[0] and "\u034f" not in pair[1]]
    )
    def test_name_is_unique_and_logs_in_in_any_spelling(self, one: str, other: str) -> None:
        assert sign_up(one) == {}
        assert list(sign_up(other)) == ["username"]
        assert get_user_model().objects.count() == 1
        for name in (one, other, one.upper(), one.lower(), unicodedata.normalize("NFD", one)):
            assert (log_in(name), log_in(name, "wrong")) == (302, 200)

    @pytest.mark.parametrize("name", ["\u3164", "\u115f\u1160", "\u200b", "ada\u3164", "ada\u202e", "a\u200dda"])
    def test_sign_up_refuses_invisible_names(self, name: str) -> None:
        assert list(sign_up(name)) == ["username"]

    @pytest.mark.parametrize("name", ["ＭＥＮＡＣＥ", "ﬆaff", "GUEST1"])
    def test_reserved_names_are_refused_in_any_form(self, name: str) -> None:
        assert list(sign_up(name)) == ["username"]

    def test_staff_log_in_by_any_spelling(self) -> None:
        account = factories.user("Größe", is_staff=True)
        client = Client()
        form = {"username": "GRÖSSE", "password": PASSWORD}
        assert client.post("/admin/login/", form).status_code == 302
        assert client.session["_auth_user_id"] == str(account.pk)

    def test_a_closed_account_stays_closed(self) -> None:
        factories.user("Ärger", is_active=False)
        assert log_in("ärger") == 200

    def test_an_unknown_name_costs_one_password_hash(self, monkeypatch: pytest.MonkeyPatch) -> None:
        model, hashed_passwords = get_user_model(), []
        monkeypatch.setattr(model, "set_password", lambda self, password: hashed_passwords.append(password))
        assert log_in("nobody", "wrong") == 200
        assert hashed_passwords == ["wrong"]

    def test_a_wrong_password_is_compared_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        account, compared_passwords = factories.user("Ärger"), []
        monkeypatch.setattr(type(account), "check_password", lambda self, password: compared_passwords.append(password))
        assert log_in("ÄRGER", "wrong") == 200
        assert compared_passwords == ["wrong"]

    def test_other_credentials_are_left_to_other_backends(self) -> None:
        assert authenticate(RequestFactory().post("/login"), token="x") is None

    def test_all_spellings_of_a_name_share_one_lock(self) -> None:
        factories.user("müller")
        spellings = ["müller", "MÜLLER", "Müller", unicodedata.normalize("NFD", "müller"), "ＭÜLLER"] * 2
        answers = [log_in(name, "wrong") for name in spellings]
        assert answers == [200] * 9 + [429]
        assert AccessAttempt.objects.values_list("username", "failures_since_start").get() == ("müller", 10)
        assert {log_in(name) for name in spellings} == {429}

    def test_the_longest_name_can_be_locked(self) -> None:
        assert log_in("ΐ" * 150, "wrong") == 200
        assert AccessAttempt.objects.get().username == ("ΐ" * 150)

    def test_a_rename_frees_the_old_name_and_takes_the_new(self) -> None:
        account, other = factories.user("Ärger"), factories.user("Öl")
        account.username = "ÖL"
        with pytest.raises(ValidationError, match="taken"):
            account.save()
        account.username = "Übel"
        account.save(update_fields=["username"])
        assert (account_get_by_name("übel"), account_get_by_name("ärger"), account_get_by_name("öl")) == (
            account,
            None,
            other,
        )
        assert sign_up("ärger") == {}

    def test_an_account_may_change_the_case_of_its_name(self) -> None:
        account = factories.user("ärger")
        account.username = "Ärger"
        account.save()
        assert account_get_by_name("ÄRGER").username == "Ärger"

    @pytest.mark.parametrize("name", ["MÜLLER", "\u3164"])
    def test_staff_forms_refuse_the_names_that_sign_up_refuses(self, admin_client: Client, name: str) -> None:
        factories.user("müller")
        other = factories.user("other")
        form = {"username": name, "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
        added = admin_client.post("/admin/auth/user/add/", form)
        changed = admin_client.post(f"/admin/auth/user/{other.pk}/change/", {"username": name})
        for answer in (added, changed):
            assert "username" in answer.context["adminform"].form.errors

    @pytest.mark.parametrize("name", ["MÜLLER", "\u3164"])
    def test_createsuperuser_refuses_the_names_that_sign_up_refuses(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        factories.user("müller")
        monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
        with pytest.raises(CommandError, match=r"taken|hidden"), transaction.atomic():
            call_command("createsuperuser", interactive=False, username=name, email="a@example.org")

    def test_the_database_refuses_a_second_account_with_one_key(self) -> None:
        factories.user("müller")
        other = factories.user("other")
        with pytest.raises(IntegrityError, match="account_name_once"):
            AccountName.objects.filter(account=other).update(key="müller")


@pytest.mark.django_db
def test_an_email_address_matches_in_any_case() -> None:
    factories.user("ada", email="ada@müller.example")
    Client().post("/password/reset", {"email": "Ada@MÜLLER.example"})
    assert [message.to for message in mail.outbox] == [["ada@müller.example"]]


@pytest.mark.django_db
class TestOldAccounts:
    @pytest.fixture(autouse=True)
    def migration_output(self, legacy_accounts: Any, capsys: pytest.CaptureFixture[str]) -> str:
        """Run the step of the migration that normalises names, and return its output."""
        import_module("games.migrations.0014_account_names_folded").fold(apps, None)
        return capsys.readouterr().out

    def test_both_accounts_log_in_by_their_own_spelling(self, legacy_accounts: Any, migration_output: str) -> None:
        """The migration and the command ``names`` report both accounts with the same folded name."""
        first, later = legacy_accounts
        for account in legacy_accounts:
            client = Client()
            assert log_in(account.username, f"{PASSWORD} of {account.username}", client) == 302
            assert client.session["_auth_user_id"] == str(account.pk)
        output = StringIO()
        call_command("names", stdout=output)
        for text in (migration_output, output.getvalue()):
            assert f"'müller7' (id {first.pk}) and 'MÜLLER7' (id {later.pk})" in text
        assert "1 accounts share" in output.getvalue()

    def test_admin_lists_both_accounts(self, admin_client: Client) -> None:
        page = admin_client.get("/admin/auth/user/?account_name__is_duplicate=1")
        assert [account.username for account in page.context["cl"].result_list] == ["MÜLLER7"]

    def test_both_accounts_can_be_saved_and_a_third_is_refused(self, legacy_accounts: Any) -> None:
        for account in legacy_accounts:
            account.email = "a@example.org"
            account.save()
        assert list(sign_up("Müller7")) == ["username"]

    def test_a_rename_resolves_the_conflict(self, legacy_accounts: Any) -> None:
        first, later = legacy_accounts
        first.username = "meier"
        first.save()
        assert account_get_by_name("mÜLLER7") == later
        output = StringIO()
        call_command("names", stdout=output)
        assert output.getvalue() == "0 accounts share the name of another one.\n"


@pytest.mark.django_db
def test_accounts_of_older_processes_get_normalised_names_later() -> None:
    """Older processes create and rename accounts without folded names; the command ``names`` fills them in."""
    account = factories.user("ärger")
    accounts = get_user_model().objects
    accounts.filter(pk=account.pk).update(username="Öl")
    accounts.bulk_create([accounts.model(username="Übel")])
    assert account_get_by_name("Übel") is not None
    call_command("names", stdout=StringIO())
    assert [account_get_by_name(name) is None for name in ("öl", "übel", "ärger")] == [False, False, True]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("create_account", [factories.user, sign_up])
def test_two_spellings_at_the_same_moment_make_one_account(create_account: Callable[[str], Any]) -> None:
    faults = at_once(*(lambda name=name: create_account(name) for name in ("müller", "MÜLLER", "Müller")))  # type: ignore[misc]
    assert all(isinstance(fault, (IntegrityError, ValidationError)) for fault in faults)
    assert get_user_model().objects.count() == AccountName.objects.count() == 1
