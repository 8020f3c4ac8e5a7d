"""URLs of the learning app's WebSockets."""

from django.urls import re_path

from learning.class_consumers import ClassConsumer
from learning.consumers import MachineConsumer, RunConsumer, TournamentConsumer

websocket_urlpatterns = [
    re_path(r"^api/machines/(?P<machine_id>\d{1,18})/ws$", MachineConsumer.as_asgi()),
    re_path(r"^api/classes/(?P<classroom_id>\d{1,18})/ws$", ClassConsumer.as_asgi()),
    re_path(r"^api/training-runs/(?P<run_id>\d{1,18})/ws$", RunConsumer.as_asgi()),
    re_path(r"^api/tournaments/(?P<tournament_id>\d{1,18})/ws$", TournamentConsumer.as_asgi()),
]
