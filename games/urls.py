"""URLs of rooms, accounts and their API. Paths of the API match with and without a trailing slash."""

from django.contrib.auth import views as auth_views
from django.urls import path, re_path

from games.accounts import views as accounts
from games.live import api, views
from games.live.rooms import seats_claim

urlpatterns = [
    path("about", views.about, name="about"),
    path("rooms", views.room_create, name="room_create"),
    re_path(r"^rooms/join/?$", views.room_join, name="room_join"),  # With a slash, "join" would match as a code below.
    re_path(r"^rooms/(?P<code>[^/]+)/matches/(?P<number>[^/]+)/?$", views.match_page, name="match"),
    path("rooms/<path:code>", views.room_page, name="room"),
    path("account/tokens", accounts.tokens, name="tokens"),
    path("account/tokens/<int:token_id>/revoke", accounts.token_end, name="token_revoke"),
    path("signup", accounts.SignUpView.as_view(claim=seats_claim), name="signup"),
    path("login", accounts.LogInView.as_view(claim=seats_claim), name="login"),
    path("logout", accounts.LogOutView.as_view(), name="logout"),
    path("password", accounts.ChangePasswordView.as_view(), name="password_change"),
    path("password/done", accounts.password_change_done, name="password_change_done"),
    path("password/reset", accounts.ResetPasswordView.as_view(), name="password_reset"),
    path("password/reset/sent", auth_views.PasswordResetDoneView.as_view(), name="password_reset_done"),
    path(
        "password/reset/<uidb64>/<token>",
        accounts.NewPasswordView.as_view(claim=seats_claim),
        name="password_reset_confirm",
    ),
    path("password/reset/done", auth_views.PasswordResetCompleteView.as_view(), name="password_reset_complete"),
    re_path(r"^api/games/?$", api.GameListView.as_view()),
    re_path(r"^api/games/(?P<slug>[-\w]+)/?$", api.GameView.as_view(), name="api-game"),
    re_path(r"^api/rooms/?$", api.RoomListView.as_view()),
    re_path(r"^api/rooms/(?P<code>[^/]+)/?$", api.RoomView.as_view(), name="api-room"),
    re_path(r"^api/rooms/(?P<code>[^/]+)/joined/?$", api.RoomJoinedView.as_view(), name="api-room-joined"),
    re_path(r"^api/rooms/(?P<code>[^/]+)/positions/?$", api.RoomPositionsView.as_view(), name="api-room-positions"),
    re_path(
        r"^api/rooms/(?P<code>[^/]+)/matches/(?P<number>\d{1,9})/?$", api.RoomMatchView.as_view(), name="api-room-match"
    ),
    re_path(r"^api/rooms/(?P<code>[^/]+)/join/?$", api.RoomJoinView.as_view()),
    re_path(r"^api/rooms/(?P<code>[^/]+)/move/?$", api.RoomMoveView.as_view()),
    re_path(r"^api/rooms/(?P<code>[^/]+)/step/?$", api.RoomStepView.as_view()),
    re_path(r"^api/rooms/(?P<code>[^/]+)/resign/?$", api.RoomResignView.as_view()),
    re_path(r"^api/rooms/(?P<code>[^/]+)/draw/?$", api.RoomDrawView.as_view()),
    re_path(r"^api/rooms/(?P<code>[^/]+)/reset/?$", api.RoomResetView.as_view()),
]
