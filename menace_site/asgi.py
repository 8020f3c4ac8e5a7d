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
import learning.api.ai  # noqa: E402
import learning.routing  # noqa: E402
import learning.urls  # noqa: E402
from menace_site.boundary import BodyLimit, SocketBoundary, SocketLimit, SocketOutage, close_unknown  # noqa: E402
from menace_site.open_endpoints import OpenEndpoints  # noqa: E402

websocket_urlpatterns = [
    *games.routing.websocket_urlpatterns,
    *learning.routing.websocket_urlpatterns,
    re_path("", close_unknown),  # type: ignore[arg-type]  # Channels routes to applications, Django's types to views
]

sockets = SocketOutage(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))

application = ProtocolTypeRouter(
    {
        "http": OpenEndpoints(
            BodyLimit(django_application, max_bytes=settings.REQUEST_BODY_MAX_BYTES),
            learning.urls.open_urlpatterns,
            max_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
            drain_bytes=settings.REQUEST_BODY_MAX_BYTES,
            is_slow=learning.api.ai.is_slow,
            busy=learning.api.ai.busy,
            warm_up=learning.api.ai.warm_up,
            n_threads=settings.AI_THREADS,
        ),
        "websocket": SocketBoundary(SocketLimit(sockets)),
    }
)
