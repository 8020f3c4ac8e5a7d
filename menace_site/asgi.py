"""The ASGI application: pages and API through Django, sockets through Channels."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")
# This call loads the applications, so it must stand before any import of models.
django_application = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.urls import re_path  # noqa: E402

import games.routing  # noqa: E402
import learning.routing  # noqa: E402
import learning.urls  # noqa: E402
from games.transport.dependency_monitor import DEPENDENCIES  # noqa: E402
from menace_site.observability.access_log import AccessLog, LoggedRequest  # noqa: E402
from menace_site.observability.metrics import Metrics, gauges_update  # noqa: E402
from menace_site.server.boundary import BlockedAddresses, SocketBoundary, refuse_unknown_path  # noqa: E402
from menace_site.server.fast_path import OpenEndpoints  # noqa: E402
from menace_site.server.lifespan import Lifespan, reload_blocks  # noqa: E402

websocket_urlpatterns = [
    *games.routing.websocket_urlpatterns,
    *learning.routing.websocket_urlpatterns,
    re_path("", refuse_unknown_path),  # type: ignore[arg-type]  # Channels routes to applications, Django's types to views
]

django_application.request_class = LoggedRequest
http_application = OpenEndpoints(django_application, learning.urls.open_urlpatterns, LoggedRequest)
socket_application = URLRouter(websocket_urlpatterns)
application = ProtocolTypeRouter(
    {
        "http": AccessLog(Metrics(BlockedAddresses(http_application))),
        "websocket": AccessLog(
            socket_application, boundary=SocketBoundary(), socket_patterns=websocket_urlpatterns[:-1]
        ),
        "lifespan": Lifespan((reload_blocks, gauges_update, DEPENDENCIES.run)),
    }
)
