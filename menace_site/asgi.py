"""The ASGI application: pages and API through Django, sockets through Channels."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")
# Before anything that imports models: it loads the applications.
django_application = get_asgi_application()

from channels.routing import URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402

import games.routing  # noqa: E402
import learning.routing  # noqa: E402
import learning.urls  # noqa: E402
from learning.api.ai import is_slow, may_be_slow  # noqa: E402
from learning.api.open_view import busy  # noqa: E402
from learning.selectors.advice import warm_up  # noqa: E402
from menace_site.boundary import (  # noqa: E402
    Application,
    BlockedAddresses,
    BodyLimit,
    GuardedRefusals,
    SocketBoundary,
    SocketLimit,
    close_unknown,
)
from menace_site.metrics import Metrics  # noqa: E402
from menace_site.observed import Observed, ObservedRequest  # noqa: E402
from menace_site.open_endpoints import OpenEndpoints  # noqa: E402
from menace_site.outgoing import Outgoing  # noqa: E402

websocket_urlpatterns = [
    *games.routing.websocket_urlpatterns,
    *learning.routing.websocket_urlpatterns,
    re_path("", close_unknown),  # type: ignore[arg-type]  # Channels routes to applications, Django's types to views
]

django_application.request_class = ObservedRequest
http: Application = BodyLimit(django_application, max_bytes=settings.REQUEST_BODY_MAX_BYTES)
if settings.AI_SHORT_ROAD:
    http = OpenEndpoints(
        http,
        learning.urls.open_urlpatterns,
        max_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        drain_bytes=settings.REQUEST_BODY_MAX_BYTES,
        is_slow=is_slow,
        may_be_slow=may_be_slow,
        busy=busy,
        warm_up=warm_up,
        n_threads=settings.AI_THREADS,
    )

sockets = SocketBoundary(SocketLimit(URLRouter(websocket_urlpatterns)))
application = Outgoing(
    {
        "http": Observed(Metrics(BlockedAddresses(http))),
        "websocket": Observed(GuardedRefusals(BlockedAddresses(sockets)), socket_patterns=websocket_urlpatterns[:-1]),
    }
)
