"""A class at a computer that is reached by its address over http. There browsers refuse functions that need https."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from learning.models import ClassFinal
from menace_site.local.addresses import own_addresses
from tests.conftest import CannotTry
from tests.e2e.axe import violations
from tests.e2e.conftest import LiveSite, Visitor, Watch
from tests.e2e.everywhere import browser_options
from tests.e2e.layout import layout_faults
from tests.e2e.school import N_PUPILS, hold_lesson, join_and_play
from tests.e2e.test_filtered import REMOVE_SOCKETS
from tests.factories import work_final
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

HOST_ADDRESSES = [str(address) for address in own_addresses() if address.version == 4]


@pytest.fixture(autouse=True)
def school_site(settings: Any, watch: Watch) -> Iterator[LiveSite]:
    """Serve the site a second time, at all addresses of this computer, until every browser is closed."""
    settings.ALLOWED_HOSTS, settings.LOCAL_HOSTS = [*settings.ALLOWED_HOSTS, *HOST_ADDRESSES], lambda: HOST_ADDRESSES
    site = LiveSite("0.0.0.0", HOST_ADDRESSES[0] if HOST_ADDRESSES else "127.0.0.1")
    watch.origin = site.url
    # Chromium says so on every page without https. The header does no harm there.
    watch.allow("Cross-Origin-Opener-Policy header has been ignored")
    yield site
    assert wait_until(site.is_idle)
    site.stop()


def compute_final() -> None:
    """Compute the final of the only class, as a worker does."""
    assert wait_until(ClassFinal.objects.exists)
    assert work_final(ClassFinal.objects.get()).is_finished


def test_class_by_address_without_https(
    page: Page, visitor: Visitor, school_site: LiveSite, cannot_try: CannotTry
) -> None:
    if not HOST_ADDRESSES:
        cannot_try("a class at the computer’s own address (it has no network)")
        return
    phones = [visitor(**browser_options(360, 740)) for _ in range(N_PUPILS)]
    hold_lesson(page, visitor(viewport={"width": 1920, "height": 1080}), phones, school_site.url, compute_final)
    code = page.locator(".class-code").inner_text()
    filtered = visitor(**browser_options(360, 740))
    filtered.add_init_script(REMOVE_SOCKETS)
    join_and_play(filtered, school_site.url, code)
    page.reload()
    expect(page.locator("#pupils-title")).to_have_text(f"Pupils ({N_PUPILS + 1})")


@pytest.mark.parametrize("path", ["/classes/help", "/classes/plans/10", "/classes/plans/45"])
def test_pages_for_teachers_fit_every_screen(path: str, visitor: Visitor, school_site: LiveSite) -> None:
    for width in (360, 1280):
        page = visitor(**browser_options(width, 800))
        page.goto(school_site.url + path)
        assert violations(page) == layout_faults(page) == []
