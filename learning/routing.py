"""Addresses of the sockets."""

from django.urls import re_path

from learning.consumers import MachineConsumer

websocket_urlpatterns = [re_path(r"^api/machines/(?P<machine_id>\d{1,18})/ws$", MachineConsumer.as_asgi())]
