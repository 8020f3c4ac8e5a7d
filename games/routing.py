"""Addresses of the sockets."""

from django.urls import re_path

from games.consumers import RoomConsumer

websocket_urlpatterns = [re_path(r"^api/rooms/(?P<code>[^/]{1,40})/ws$", RoomConsumer.as_asgi())]
