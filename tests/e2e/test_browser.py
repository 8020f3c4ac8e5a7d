"""The page that shows the API to people: an outside script or an inline one would leave it blank."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import LiveSite, Watch

pytestmark = pytest.mark.e2e


def test_the_api_page_works_under_our_content_security_policy(page: Page, watch: Watch) -> None:
    # It is another project's page: it would style a few things inline, is refused, and reads well without.
    watch.allow("Applying inline style .*/api/docs", "style-src.* refused inline")
    page.goto("/api/docs")
    expect(page.get_by_role("heading", name="Beadbox")).to_be_visible()


def test_the_site_keeps_its_address_through_a_restart(page: Page, live_site: LiveSite, watch: Watch) -> None:
    watch.allow("favicon.ico")  # JSON names no icon
    live_site.restart()
    page.goto("/api/health")
    expect(page.locator("body")).to_contain_text('"status": "ok"')
