"""The page of the API under the content security policy, and the live site of the tests after a restart."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import LiveSite, Watch

pytestmark = pytest.mark.e2e


def test_the_api_page_works_under_our_content_security_policy(page: Page) -> None:
    page.goto("/api/docs")
    expect(page.get_by_role("heading", name="Beadbox")).to_be_visible()
    page.get_by_role("link", name="Tokens for programs").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()


def test_the_site_keeps_its_address_through_a_restart(page: Page, live_site: LiveSite, watch: Watch) -> None:
    watch.allow("favicon.ico")  # JSON names no icon
    live_site.restart()
    page.goto("/api/health")
    expect(page.locator("body")).to_contain_text('"status": "ok"')
