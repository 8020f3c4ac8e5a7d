"""The ASGI application: pages and API through Django, sockets through Channels."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")
# Before anything that imports models: it loads the applications.
django_application = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402

import games.routing  # noqa: E402
import learning.routing  # noqa: E402
from menace_site.boundary import BodyLimit, SocketBoundary, SocketLimit, close_unknown  # noqa: E402

websocket_urlpatterns = [
    *games.routing.websocket_urlpatterns,
    *learning.routing.websocket_urlpatterns,
    re_path("", close_unknown),  # type: ignore[arg-type]  # Channels routes to applications, Django's types to views
]

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(django_application, max_bytes=settings.REQUEST_BODY_MAX_BYTES),
        "websocket": SocketBoundary(SocketLimit(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))),
    }
)
