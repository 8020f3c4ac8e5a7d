"""URLs of the sockets of rooms and of other pages."""

from django.urls import re_path

from games.live.consumers import RoomConsumer, SiteConsumer

SITE_SOCKET_PATH = "api/site/ws"
"""Path of the socket for pages without another socket. It reports outages of the site."""

websocket_urlpatterns = [
    re_path(r"^api/rooms/(?P<code>[^/]{1,200})/ws$", RoomConsumer.as_asgi()),
    re_path(f"^{SITE_SOCKET_PATH}$", SiteConsumer.as_asgi()),
]
