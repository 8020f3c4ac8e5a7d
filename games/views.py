"""Pages of rooms, and accounts. Each parses, calls one service or selector, answers."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import unicodedata
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model, login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.views import (
    LoginView,
    LogoutView,
    PasswordChangeView,
    PasswordResetConfirmView,
    PasswordResetView,
)
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from django.views.generic import FormView, TemplateView

from games import services, services_tokens
from games.answers import not_found, sent_back, too_many
from games.authentication import GUEST_KEY
from games.exceptions import AccountClosedError, PlayError, RoomNotFoundError, SiteFullError, TooManyGuessesError
from games.forms import LogInForm, TokenForm
from games.identity import guest_seated, person_of_request
from games.letters import password_told
from games.players import Claimed
from games.quotas import account_lock, site_require
from games.selectors import game_view, machines_managed, token_list_of
from games.serializers import parse_room
from games.throttles import AddressThrottle, Guesses, StartThrottle

NAMES_TOLD = 5
"""So many names of machines a message tells one by one."""
RESERVED_NAMES = ("guest", "menace", "beadbox", "admin", "staff")


def starting(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page whose form begins what costs more than a look; it counts together with what the API begins."""

    @functools.wraps(view)
    def within_rate(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        throttle = StartThrottle()
        if not throttle.allow_request(request):
            return too_many(request, throttle.wait())
        return view(request, *args, **kwargs)

    return within_rate


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """The page for who may not log in by a name for a while; who tries meanwhile does not wait for longer."""
    wait_s: float = getattr(request, "locked_for_s", 0) or settings.AXES_COOLOFF_TIME * 3600
    return too_many(request, wait_s, "registration/locked.html")


def counting(scope: str, *, successes: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A form that an address may fill in rightly (or wrongly, not ``successes``) no more often than the rate says.

    What comes out the other way costs nothing.
    """

    def of(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @functools.wraps(view)
        def counted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method != "POST":
                return view(request, *args, **kwargs)
            throttle = AddressThrottle(scope)
            if throttle.is_used_up(request):
                return too_many(request, throttle.wait())
            response = view(request, *args, **kwargs)
            if (response.status_code == 302) is successes:
                throttle.allow_request(request)
            return response

        return counted

    return of


# Wrong passwords over many names; axes counts those for one.
log_in_counted = counting("login", successes=False)


@require_POST
def room_create(request: HttpRequest) -> HttpResponse:
    """Open a room from the lobby or a machine's page and go there."""
    try:
        data = parse_room(request.POST)
        with guest_seated(request, person_of_request(request)) as person:
            seated = services.room_create(person=person, **data)
    except PlayError as error:
        return sent_back(request, error)
    return redirect(seated.room)


@require_POST
def room_join(request: HttpRequest) -> HttpResponse:
    """Take the free seat of a room by its code; when there is none, go and watch."""
    code = request.POST.get("code", "").strip().lower()
    person = person_of_request(request)
    try:
        with (
            Guesses(request, request.user.pk).counted(code, lambda: person),
            guest_seated(request, person) as newcomer,
        ):
            services.room_join(code=code, person=newcomer)
    except TooManyGuessesError as error:
        return too_many(request, error.retry_after_s)
    except RoomNotFoundError as error:
        return sent_back(request, error)
    except PlayError as error:
        messages.info(request, str(error))
    return redirect("room", code)


@require_GET
def room_page(request: HttpRequest, code: str) -> HttpResponse:
    """The match page: for players and for everybody who watches."""
    person = person_of_request(request)
    try:
        with Guesses(request, request.user.pk).counted(code, lambda: person):
            entered = services.room_enter(code=code, person=person)
    except TooManyGuessesError as error:
        return too_many(request, error.retry_after_s)
    except RoomNotFoundError as error:
        return not_found(request, error)
    context = {
        "room": entered.room.code,
        "role": entered.role,
        "is_host": entered.is_host,
        "state": entered.view,
        "managed": machines_managed(entered.room, request.user),
        "game": game_view(entered.room.game_rules),
        "share_url": request.build_absolute_uri(entered.room.get_absolute_url()),
    }
    return render(request, "games/room.html", context)


class About(TemplateView):
    """How it learns, the keys, and what is kept of whom for how long."""

    template_name = "games/about.html"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """How many days that is, as it is set."""
        names = ("KEEP_GUEST_MATCHES_DAYS", "KEEP_MATCHES_DAYS", "KEEP_LOG_INS_DAYS")
        return super().get_context_data(**context, **{name.lower(): getattr(settings, name) for name in names})


about = About.as_view()


class SignUpForm(UserCreationForm):
    """A name, a password twice and, for those who may forget it, an e-mail address."""

    class Meta(UserCreationForm.Meta):
        model = get_user_model()
        fields = ("username", "email")
        help_texts = {
            "username": "Letters, digits and @ . + - _, 150 at most.",
            "email": "You need not give one. It is for a new password, should you forget yours.",
        }

    def clean_username(self) -> str:
        """A name that nobody has in any case of letters, and that no machine or guest is called."""
        username = super().clean_username()
        # Django's own answers None for a name that it has refused already.
        if (username or "").lower().startswith(RESERVED_NAMES):
            raise ValidationError("This name belongs to the site. Take another one.", code="reserved")
        return username


def _enter(request: HttpRequest, user: Any) -> None:
    """Log in; a guest's matches and machines follow them into the account, or all stays as it was.

    What the account has no room for stays the guest's, whose number the session keeps. Call inside a transaction.
    """
    guest = person_of_request(request).guest
    claimed = Claimed([], [])
    if guest is not None:
        claimed = services.seats_claim(user_id=user.pk, name=user.get_username(), guest=guest)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session.pop(GUEST_KEY, None)
    if guest is not None and claimed.left:
        request.session[GUEST_KEY] = guest.hex
    request.session.save()  # with the rest, and not with the answer
    if claimed.taken:
        messages.success(request, f"Yours from now on, wherever you log in: {_some(claimed.taken)}.")
    if claimed.left:
        messages.warning(
            request,
            f"Your account has no room for {_some(claimed.left)}. They stay in this browser: delete machines of your"
            " account, log out, and log in again.",
        )


def _some(names: list[str]) -> str:
    """The first few of these names, and how many more there are."""
    shown = ", ".join(names[:NAMES_TOLD])
    return shown if len(names) <= NAMES_TOLD else f"{shown} and {len(names) - NAMES_TOLD} more"


@method_decorator(counting("signup", successes=True), name="dispatch")
class SignUpView(FormView):
    """Make an account; matches and machines of this session come along."""

    template_name = "registration/signup.html"
    form_class = SignUpForm
    success_url = reverse_lazy("account")

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        """Store the account, take the guest's matches and machines over, log in: all of it or nothing."""
        try:
            site_require("auth_user")
        except SiteFullError as error:
            form.add_error(None, str(error))
            return self.form_invalid(form)
        with transaction.atomic():
            user = form.save()
            _enter(self.request, user)
        return HttpResponseRedirect(self.get_success_url())


@method_decorator(log_in_counted, name="dispatch")
class LogInView(LoginView):
    """Log in; matches and machines of this session come along."""

    form_class = LogInForm
    redirect_authenticated_user = True

    def form_valid(self, form: Any) -> HttpResponse:
        """Take the guest's matches and machines over and log in: both or neither."""
        try:
            with transaction.atomic():
                _enter(self.request, form.get_user())
        except AccountClosedError as error:  # since the password was compared
            form.add_error(None, str(error))
            return self.form_invalid(form)
        return HttpResponseRedirect(self.get_success_url())


class LogOutView(LogoutView):
    """Log out; what the account had no room for is still this browser's."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Log out, and keep the guest number that a log-in has left."""
        guest = request.session.get(GUEST_KEY)
        response = super().post(request, *args, **kwargs)
        if guest is not None:
            request.session[GUEST_KEY] = guest
        return response


class ResetPasswordView(PasswordResetView):
    """Send a letter with a way to a new password: so many an hour for an address, and to one mailbox."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Ask for nothing where no letter would come, and say what helps."""
        if not settings.SENDS_LETTERS:
            return render(request, "registration/no_letters.html")
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """Send it, unless too many were asked for; whether there is such an account, nobody is told."""
        mailbox = unicodedata.normalize("NFKC", form.cleaned_data["email"]).casefold()
        name = hashlib.sha256(mailbox.encode()).hexdigest()
        for throttle in (AddressThrottle("reset"), AddressThrottle("reset_mailbox", name)):
            if not throttle.allow_request(self.request):
                return too_many(self.request, throttle.wait())
        return super().form_valid(form)


class TellsOfNewPassword:
    """A page that changes a password, of which the owner hears: it may have been somebody else."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Change it, and send the letter; nothing of an account that is closed, a moment ago perhaps."""
        try:
            with transaction.atomic():
                account_lock(form.user)
                form.user.refresh_from_db()  # all of it is written
                response: HttpResponse = super().form_valid(form)  # type: ignore[misc]  # what it is mixed into has it
        except AccountClosedError as error:
            form.add_error(None, str(error))
            return self.form_invalid(form)  # type: ignore[attr-defined,no-any-return]
        password_told(form.user)
        return response


class ChangePasswordView(TellsOfNewPassword, PasswordChangeView):
    """Change the password of the account that is logged in."""


class NewPasswordView(TellsOfNewPassword, PasswordResetConfirmView):
    """Choose a password by the letter that was asked for, which logs in too, also where others tried it too often."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Change it, and log in: from then on the account is known at this address."""
        response = super().form_valid(form)
        if not form.errors:
            with contextlib.suppress(AccountClosedError), transaction.atomic():  # since it was changed
                _enter(self.request, form.user)
        return response


@login_required
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """The tokens of an account, and a new one, whose text is on the answer to the form and nowhere else."""
    form, made = TokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        try:
            _, made = services_tokens.token_make(user=request.user, **form.cleaned_data)
            form = TokenForm()
        except PlayError as error:
            form.add_error(None, str(error))
    status = 400 if form.errors else 200
    context = {"form": form, "made": made, "tokens": token_list_of(request.user)}
    return render(request, "games/tokens.html", context, status=status)


@login_required
@require_POST
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke a token."""
    try:
        services_tokens.token_revoke(user=request.user, token_id=token_id)
    except PlayError as error:
        return sent_back(request, error, to="tokens")
    messages.success(request, "That token does not work any more.")
    return redirect("tokens")
