"""Pages of accounts: sign-up, log-in, passwords, tokens."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import unicodedata
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model, login
from django.contrib.auth.decorators import user_passes_test
from django.contrib.auth.forms import PasswordResetForm, UserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import (
    LoginView,
    LogoutView,
    PasswordChangeDoneView,
    PasswordChangeView,
    PasswordResetConfirmView,
    PasswordResetView,
)
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.forms import Field
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from beadbox.names import name_key
from games.accounts.account_names import NAME_TAKEN, NameForm
from games.accounts.authentication import GUEST_KEY, PUPIL_KEY
from games.accounts.claims import WAITING_CODES_KEY, ClaimResult, ClaimService, waiting_codes_of
from games.accounts.emails import send_password_changed
from games.accounts.forms import LogInForm, TokenForm, refusal_add
from games.accounts.identity import own_guest_number, own_guest_number_set
from games.accounts.throttles import AddressThrottle
from games.accounts.tokens import token_list_of, token_make, token_revoke
from games.exceptions import (
    AccountClosedError,
    PlayError,
    SiteFullError,
)
from games.limits.quotas import account_lock, site_require
from games.transport.error_responses import form_only, redirect_back, too_many_response

MAX_SHOWN_NAMES = 5
"""Machine names that a message lists; of further names it gives only the number."""

RESERVED_NAMES = ("guest", "menace", "beadbox", "admin", "staff")


def account_required(purpose: str, without: str, test: Callable[[Any], bool] | None = None) -> Callable[..., Any]:
    """Return a decorator that restricts a page to accounts, or to users that pass ``test``.

    Other visitors are sent to the log-in page.

    Args:
        purpose: a sentence for the log-in page: why an account is needed.
        without: the next sentence: what can be done without an account.
        test: whether the user, which may be a :class:`Visitor`, may see the page.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        restricted_view: Any = user_passes_test(test or (lambda user: user.is_authenticated))(view)
        restricted_view.needs_account = {"purpose": purpose, "without": without}
        return restricted_view  # type: ignore[no-any-return]

    return decorate


def purpose_of(address: str) -> dict[str, str]:
    """Return the ``purpose`` and ``without`` of a page by its address (:func:`account_required`).

    The result is empty if the page needs no account.
    """
    try:
        view = resolve(urlsplit(address).path).func
    except Resolver404:
        return {}
    return getattr(view, "needs_account", {})


def lock_out_response(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """Return the page for a locked name. Attempts during the lock do not lengthen the lock."""
    wait_s: float = getattr(request, "locked_for_s", 0) or settings.AXES_COOLOFF_TIME * 3600
    return too_many_response(request, wait_s, "registration/locked.html")


def limit_submissions(count_name: str, *, successes: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that limits how often an address may submit a form.

    Args:
        count_name: name of the count.
        successes: whether successful submissions count; otherwise failed submissions count.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @functools.wraps(view)
        def limited_view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method != "POST":
                return view(request, *args, **kwargs)
            throttle = AddressThrottle("guess", count_name=count_name)
            if throttle.is_used_up(request):
                return too_many_response(request, throttle.wait())
            response = view(request, *args, **kwargs)
            if (response.status_code == 302) is successes:
                throttle.allow_request(request)
            return response

        return limited_view

    return decorate


# Limits wrong passwords from one address, for all names together. axes limits wrong passwords for each name.
limit_failed_log_ins = limit_submissions("login", successes=False)


def _label_repeated_password(field: Field, label: str) -> None:
    """Set the label and the help text of the field that repeats a new password."""
    field.label, field.help_text = label, "Type the same password again."


class SignUpForm(NameForm, UserCreationForm):
    """Name, password twice and an optional e-mail address for password resets."""

    class Meta(UserCreationForm.Meta):
        model = get_user_model()
        fields = ("username", "email")
        help_texts = {
            "username": "Use letters, digits and @ . + - _. It can have 150 characters at most.",
            "email": "Optional. We use it only to reset a forgotten password.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _label_repeated_password(self.fields["password2"], "Password again")

    def clean_username(self) -> str:
        """Return the name if it is not reserved and no other account has it in any spelling."""
        username: str = super().clean_username()
        if name_key(username or "").startswith(RESERVED_NAMES):
            raise ValidationError("This name is reserved for the site. Choose another name.", code="reserved")
        return username


def _log_in(request: HttpRequest, user: User, claim: ClaimService) -> None:
    """Log in, and move a guest's matches and machines into the account: both or neither. Call inside a transaction.

    Rows beyond the quotas of the account remain with the guest, and the session keeps the guest number. A pupil's
    matches and machines in a class stay in the class.
    """
    guest = own_guest_number(request.session)
    claim_result = claim(user_id=user.pk, name=user.get_username(), guest=UUID(guest)) if guest else ClaimResult([], [])
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    own_guest_number_set(request.session, guest if claim_result.remaining_names else "")
    request.session.save()  # Save in this transaction; Django would save with the response.
    if claim_result.moved_names:
        messages.success(request, f"These are now in your account: {_names_text(claim_result.moved_names)}.")
    if claim_result.remaining_names:
        remaining_text = _names_text(claim_result.remaining_names)
        messages.warning(
            request,
            f"Your account has no room for these: {remaining_text}. They stay in this browser."
            " To move them, delete machines of your account, then log out and log in again.",
        )


def _names_text(names: list[str]) -> str:
    """Return the first ``MAX_SHOWN_NAMES`` names as a text, with the number of the others."""
    first_names = ", ".join(names[:MAX_SHOWN_NAMES])
    return first_names if len(names) <= MAX_SHOWN_NAMES else f"{first_names} and {len(names) - MAX_SHOWN_NAMES} more"


@method_decorator(limit_submissions("signup", successes=True), name="dispatch")
class SignUpView(FormView):
    """Create an account, and move the matches and machines of this session into it."""

    claim: ClaimService = cast("ClaimService", None)  # games/urls.py passes it

    template_name = "registration/signup.html"
    form_class = SignUpForm
    success_url = reverse_lazy("account")

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        """Store the account, move the guest's matches and machines into it, and log in: all or nothing."""
        try:
            site_require("auth_user")
        except SiteFullError as error:
            refusal_add(form, error)
            return self.form_invalid(form)
        with transaction.atomic():
            try:
                with transaction.atomic():
                    user = form.save()
            except IntegrityError:  # Another sign-up took the name at the same moment.
                form.add_error("username", NAME_TAKEN)
                return self.form_invalid(form)
            _log_in(self.request, user, self.claim)
        return HttpResponseRedirect(self.get_success_url())


@method_decorator(limit_failed_log_ins, name="dispatch")
class LogInView(LoginView):
    """Log in, and move the matches and machines of this session into the account."""

    claim: ClaimService = cast("ClaimService", None)  # games/urls.py passes it

    form_class = LogInForm
    redirect_authenticated_user = True

    def get_context_data(self, **context: Any) -> dict[str, object]:
        """Add the purpose of the account, if a page that needs an account redirected here."""
        return super().get_context_data(**context, **purpose_of(self.get_redirect_url()))

    def form_valid(self, form: Any) -> HttpResponse:
        """Move the guest's matches and machines into the account and log in: both or neither."""
        try:
            with transaction.atomic():
                _log_in(self.request, form.get_user(), self.claim)
        except AccountClosedError as error:  # The account was closed since the password was compared.
            refusal_add(form, error)
            return self.form_invalid(form)
        return HttpResponseRedirect(self.get_success_url())


@method_decorator(form_only("lobby"), name="dispatch")
class LogOutView(LogoutView):
    """Log out. This browser keeps its guest number, with the rows for which the account had no room."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Log out. The session keeps the guest number, the pupil, and the codes of rooms in which the account waits."""
        kept_values = {key: request.session[key] for key in (GUEST_KEY, PUPIL_KEY) if key in request.session}
        waiting_codes = waiting_codes_of(request.user.pk) if request.user.is_authenticated else []
        response = super().post(request, *args, **kwargs)
        request.session.update(kept_values)
        if waiting_codes:
            request.session[WAITING_CODES_KEY] = waiting_codes
        return response


class ResetForm(PasswordResetForm):
    """Django's form, extended to put the domain into lower case. A database without a locale lowers only ASCII."""

    def clean_email(self) -> str:
        """Return the address in the form in which accounts store it."""
        return get_user_model().objects.normalize_email(self.cleaned_data["email"])


class ResetPasswordView(PasswordResetView):
    """E-mail a link for a new password, limited per hour by address and by mailbox."""

    form_class = ResetForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Show another page if the site sends no e-mails."""
        if not settings.SENDS_LETTERS:
            return render(request, "registration/no_letters.html")
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """Send the e-mail if the limits allow it. The response does not reveal whether the account exists.

        The link begins with ``SITE_URL``, which every production site with e-mails sets. Without the setting, the link
        begins with the request's host.
        """
        mailbox = unicodedata.normalize("NFKC", form.cleaned_data["email"]).casefold()
        name = hashlib.sha256(mailbox.encode()).hexdigest()
        for throttle in (AddressThrottle("guess", count_name="reset"), AddressThrottle("mailbox", name)):
            if not throttle.allow_request(self.request):
                return too_many_response(self.request, throttle.wait())
        if settings.SITE_URL:
            protocol, _, domain = settings.SITE_URL.partition("://")
            self.extra_email_context = {"protocol": protocol, "domain": domain}
        return super().form_valid(form)


class PasswordChangeNotice:
    """Mix-in for a page that changes a password. An e-mail tells the owner, in case another person made the change."""

    def get_form(self, *args: Any) -> Any:
        """Return the form, with the second field labelled as on the sign-up page."""
        form = super().get_form(*args)  # type: ignore[misc]  # a mix-in: the view has the method
        _label_repeated_password(form.fields["new_password2"], "New password again")
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        """Change the password and send the e-mail, unless the account has been closed."""
        try:
            with transaction.atomic():
                account_lock(form.user)
                form.user.refresh_from_db()  # The save writes all fields, so older values must not come back.
                response: HttpResponse = super().form_valid(form)  # type: ignore[misc]  # a mix-in: the view has it
        except AccountClosedError as error:
            refusal_add(form, error)
            return self.form_invalid(form)  # type: ignore[attr-defined,no-any-return]
        send_password_changed(form.user)
        return response


account_required_for_password = account_required(
    "Log in to change your password.", "Forgot it? You can get a new one below."
)

password_change_done = account_required_for_password(PasswordChangeDoneView.as_view())


@method_decorator(account_required_for_password, name="dispatch")
class ChangePasswordView(PasswordChangeNotice, PasswordChangeView):
    """Change the password of the account that is logged in."""


class NewPasswordView(PasswordChangeNotice, PasswordResetConfirmView):
    """Choose a new password by the e-mailed link, and log in, even if the name is locked after too many failures."""

    claim: ClaimService = cast("ClaimService", None)  # games/urls.py passes it

    def form_valid(self, form: Any) -> HttpResponse:
        """Change the password and log in, so that the account is known at this address from now on."""
        response = super().form_valid(form)
        if not form.errors:
            # If the account was closed since the change, there is no log-in.
            with contextlib.suppress(AccountClosedError), transaction.atomic():
                _log_in(self.request, form.user, self.claim)
        return response


@account_required("Log in to make tokens, the keys for your programs.", "Programs can play in rooms without a token.")
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """List the tokens of an account and make new tokens. The text of a token appears only once, after the form."""
    form, token_text = TokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        try:
            _, token_text = token_make(user=cast("User", request.user), **form.cleaned_data)
            form = TokenForm()
        except PlayError as error:
            refusal_add(form, error)
    status = 400 if form.errors else 200
    context = {"form": form, "new_token_text": token_text, "tokens": token_list_of(cast("User", request.user))}
    return render(request, "games/tokens.html", context, status=status)


@form_only("tokens")
@account_required("Log in to revoke a token.", "Programs can play in rooms without a token.")
def token_end(request: HttpRequest, token_id: int) -> HttpResponse:
    try:
        token_revoke(user=cast("User", request.user), token_id=token_id)
    except PlayError as error:
        return redirect_back(request, error, to="tokens")
    messages.success(request, "The token no longer works.")
    return redirect("tokens")
