"""Properties of every page: names, sizes, layout, contrast, stillness, and bytes sent."""

from collections.abc import Mapping

import pytest
from playwright.sync_api import Page, expect

from beadbox.rules.outcome import Side
from tests.e2e.axe import THEMES, violations
from tests.e2e.conftest import LiveSite, Visitor, Watch
from tests.e2e.contrast import LOW_BEAD_CONTRASTS, LOW_TEXT_CONTRASTS, TEXT_MIN_CONTRAST
from tests.e2e.everywhere import PUBLIC_STATES, STATES, browser_options, create_world, play_to_end, play_to_middle
from tests.e2e.lab import EMPTY_LAB_ADDRESSES, LAB_STATES, create_lab, sign_in
from tests.e2e.layout import (
    LARGE_TEXT,
    NARROW_FONT,
    WAIT_UNTIL_DRAWN,
    WIDE_FONT,
    TextStyle,
    faults_in_each_style,
    layout_faults,
    text_style_set,
)
from tests.e2e.playing import NOUGHTS_PAGE, cell, expect_turn, play_mouse, play_out_mouse, start_first
from tests.factories import house_machines, user
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

MATCH_PAGE_MAX_BYTES = 200_000
TARGET_MIN_PX = 44

# Returns the controls without a name for screen readers.
CONTROLS_WITHOUT_NAME = """() => {
  const fields = "input:not([type=hidden]), select, textarea";
  const used = `a[href], button, summary, [tabindex], [role=gridcell], [role=img], ${fields}`;
  const words = (id) => document.getElementById(id)?.textContent.trim();
  return [...document.querySelectorAll(used)].filter((element) => element.checkVisibility() && !(
    element.getAttribute("aria-label")?.trim()
    || (element.getAttribute("aria-labelledby") ?? "").split(" ").some(words)
    || [...(element.labels ?? [])].some((label) => label.textContent.trim())
    || element.textContent.trim())).map((element) => element.outerHTML.slice(0, 160));
}"""

# Returns touch targets that are too small: squares, buttons, fields, main links. Links in a sentence are not checked.
SMALL_TARGETS = """(minPx) => {
  const fields = "input:not([type=hidden], [type=checkbox], [type=radio]), select, label.choice, .opponent";
  const targets = `button, .button, summary, .masthead a, .cell, .wall-box, ${fields}`;
  return [...document.querySelectorAll(targets)]
    .filter((element) => element.checkVisibility())
    .map((element) => [element, element.getBoundingClientRect()])
    .filter(([, { width, height }]) => width + 0.5 < minPx || height + 0.5 < minPx)
    .map(([element, { width, height }]) => `${element.outerHTML.slice(0, 120)} ${width} × ${height}`);
}"""


# The text styles in which each page is checked, by the width of the window. WCAG 1.4.10 demands 320 pixels.
PHONE_PX = 360  # the only width with a check of touch targets
Layouts = Mapping[int, tuple[TextStyle, ...]]
LAYOUTS: Layouts = {
    320: (WIDE_FONT,),
    PHONE_PX: (NARROW_FONT, WIDE_FONT, LARGE_TEXT),
    768: (WIDE_FONT,),
    1280: (NARROW_FONT, LARGE_TEXT),
}
EVERY_LAYOUT = pytest.param(LAYOUTS, marks=pytest.mark.soak, id="every window")


@pytest.mark.parametrize("layouts", [pytest.param({PHONE_PX: (NARROW_FONT,)}, id="a phone"), EVERY_LAYOUT])
def test_controls_on_a_phone_have_names_sizes_and_contrast(
    layouts: Layouts, visitor: Visitor, live_site: LiveSite, watch: Watch
) -> None:
    data = create_world(live_site, watch)
    faults: dict[str, list[str]] = {}
    for name, visit in PUBLIC_STATES.items():
        page = visitor(**browser_options(360, 740))
        visit(page, data)
        page.evaluate(OPEN_ALL_DETAILS)
        wrong = controls_without_name(page) + (violations(page) if layouts is LAYOUTS else [])
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            wrong += page.evaluate(LOW_TEXT_CONTRASTS, TEXT_MIN_CONTRAST)
            if name == "match-sheet":
                wrong += page.evaluate(LOW_BEAD_CONTRASTS)
        wrong += layout_and_target_faults(page, layouts)
        faults |= {name: wrong} if wrong else {}
        page.context.close()
    assert faults == {}


OPEN_ALL_DETAILS = "document.querySelectorAll('details').forEach((details) => { details.open = true; })"


def layout_and_target_faults(page: Page, layouts: Layouts = LAYOUTS) -> list[str]:
    """Return the page's layout faults in these windows, and the links and buttons that are too small for a phone."""
    wrong = []
    for width, styles in layouts.items():
        page.set_viewport_size({"width": width, "height": 800})
        find_faults = layout_faults_or_small_targets if width == PHONE_PX else layout_faults
        wrong += [f"at {width}: {words}" for words in faults_in_each_style(page, find_faults, styles)]
    return wrong


def layout_faults_or_small_targets(page: Page) -> list[str]:
    small: list[str] = page.evaluate(SMALL_TARGETS, TARGET_MIN_PX)
    return layout_faults(page) + small


def controls_without_name(page: Page) -> list[str]:
    wrong: list[str] = page.evaluate(CONTROLS_WITHOUT_NAME)
    return wrong if page.locator("h1").count() == 1 and "Beadbox" in page.title() else [*wrong, "one heading, a title"]


# Numbers and returns the controls that Tab should reach; radio buttons that are not checked are reached by arrow keys.
NUMBER_REACHABLE_CONTROLS = """() => [...document.querySelectorAll(
  "main :is(a[href], summary, textarea, [tabindex='0'], :is(button, select, input:not([type=hidden])):enabled)")]
  .filter((element) => element.checkVisibility() && element.tabIndex >= 0)
  .filter((element) => element.type !== "radio" || element.checked)
  .map((element, index) => { element.dataset.reach = index; return element.outerHTML.slice(0, 120); })"""
# Returns the number of the control that has the focus, and whether the focus is visible; null if no control has it.
FIND_FOCUSED_CONTROL = """() => {
  const element = document.activeElement;
  if (element === document.body || !("reach" in element.dataset)) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const ring = element.querySelector(".cell-focus");
  const isOutlined = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  return [Number(element.dataset.reach), isOutlined || Boolean(ring && getComputedStyle(ring).stroke !== "none")];
}"""


@pytest.mark.soak
def test_the_lab_fits_every_width_and_works_by_keyboard(visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    """Every state has names, sizes, contrast in both themes, a layout without faults, and controls that Tab reaches."""
    page = visitor(**browser_options(360, 740))
    account = user("grace")
    sign_in(page.context, live_site, account)
    faults: dict[str, list[str]] = {}
    for name, address in EMPTY_LAB_ADDRESSES.items():
        page.goto(address)
        wrong = controls_without_name(page) + violations(page) + layout_and_target_faults(page)
        faults |= {f"empty {name}": wrong} if wrong else {}
    data = create_lab(watch, account)
    for name, visit in LAB_STATES.items():
        if name == "api-docs":  # another project's page
            continue
        page.set_viewport_size({"width": 360, "height": 740})
        visit(page, data)
        page.evaluate(OPEN_ALL_DETAILS)
        wrong = controls_without_name(page) + violations(page)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            wrong += page.evaluate(LOW_TEXT_CONTRASTS, TEXT_MIN_CONTRAST)
        wrong += layout_and_target_faults(page) + unreachable_controls(page)
        faults |= {name: wrong} if wrong else {}
    assert faults == {}


def unreachable_controls(page: Page) -> list[str]:
    """Return the controls that Tab does not reach, or reaches without a visible focus."""
    page.evaluate(WAIT_UNTIL_DRAWN)
    unreached = dict(enumerate(page.evaluate(NUMBER_REACHABLE_CONTROLS)))
    page.evaluate("document.activeElement.blur(); document.querySelector('.skip').focus()")
    faults = []
    for _ in range(len(unreached) + 20):
        page.keyboard.press("Tab")
        focused = page.evaluate(FIND_FOCUSED_CONTROL)
        if focused:
            control = unreached.pop(focused[0], None)
            if control and not focused[1]:
                faults.append(f"focus not visible: {control}")
        if not unreached:
            break
    return faults + [f"not reached: {control}" for control in unreached.values()]


@pytest.mark.soak
@pytest.mark.parametrize("style", [NARROW_FONT, WIDE_FONT, LARGE_TEXT], ids=["narrow", "wide", "large"])
def test_the_browser_uses_only_the_fonts_of_the_tests(page: Page, style: TextStyle) -> None:
    """This holds for every style and character of the site, on a machine with any other fonts."""
    page.goto("/about")
    page.evaluate(
        """(signs) => {
          for (const family of ["var(--sans)", "var(--slab)", "ui-monospace, monospace"])
            for (const shape of ["", "bold ", "italic "]) {
              const line = document.createElement("p");
              line.textContent = signs;
              line.style.font = `${shape}1rem ${family}`;
              document.querySelector("main").append(line);
            }
        }""",
        "x · … − – ’ × → ← ↑ ↓ “ ” ε ± ½ ₙ ₁ Σ",
    )
    text_style_set(page, style)
    browser = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        browser.send(f"{domain}.enable")
    root = browser.send("DOM.getDocument")["root"]["nodeId"]
    nodes = browser.send("DOM.querySelectorAll", {"nodeId": root, "selector": "body *"})["nodeIds"]

    def fonts_used() -> set[str]:
        answers = (browser.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"] for node in nodes)
        return {font["familyName"] for fonts in answers for font in fonts}

    # A busy browser may render some lines once more before it applies the other font.
    assert wait_until(lambda: (NARROW_FONT.font in fonts_used()) == (style == NARROW_FONT)), fonts_used()
    assert {style.font, "DejaVu Sans Mono"} <= fonts_used() <= {"Carlito", "Bitstream Vera Sans", "DejaVu Sans Mono"}
    size = "[getComputedStyle(document.documentElement).fontSize, matchMedia('(max-width: 30rem)').matches]"
    page.set_viewport_size({"width": 800, "height": 800})
    assert page.evaluate(size) == [f"{style.size}px", style == LARGE_TEXT]


@pytest.mark.soak
def test_no_admin_page_has_browser_errors(visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    data = create_world(live_site, watch)
    faults: dict[str, list[str]] = {}
    STATES["experiment-waiting"](visitor(), data)  # queues an experiment
    for name, visit in STATES.items():
        if name.startswith("admin"):
            page = visitor()
            visit(page, data)
            expect(page.locator("#content h1")).to_be_visible()
            wrong = violations(page, ignored=FAULTS_OF_DJANGO)
            page.set_viewport_size({"width": 360, "height": 740})
            if (width := page.evaluate("document.documentElement.scrollWidth")) > 360:
                wrong.append(f"the page is {width} wide in a window of 360")
            faults |= {name: wrong} if wrong else {}
            page.context.close()
    assert faults == {}


# Faults of Django's own templates: for inline rows, columns of buttons without a name and a scrolling frame; in the
# search field for rows, the inner text, which is read with the field.
FAULTS_OF_DJANGO = ["empty-table-header", "scrollable-region-focusable", "aria-input-field-name"]


def test_board_and_box_are_visible_in_forced_colours(visitor: Visitor) -> None:
    house_machines()
    page = visitor(forced_colors="active", **browser_options(1280, 800))
    start_first(page)
    play_mouse(page, "5")
    expect_turn(page)
    stroke_of = "(selector) => getComputedStyle(document.querySelector(selector)).stroke"
    background = page.evaluate("getComputedStyle(document.querySelector('.cell-floor')).fill")
    for part in (".board .ruling", ".board .piece-0", ".board .piece-1"):
        assert page.evaluate(stroke_of, part) != background, part
    expect(page.locator("#matchbox .bead.is-drawn")).to_be_visible()
    cell(page, "1").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(stroke_of, ".cell:focus-visible > .cell-focus") not in ("none", background)


RUNNING_ANIMATIONS = (
    "document.getAnimations().map((animation) => animation.animationName ?? animation.transitionProperty ?? 'script')"
)


def test_reduced_motion_stops_all_animations(visitor: Visitor) -> None:
    machine = house_machines()[Side.SECOND]
    page, wall = visitor(reduced_motion="reduce"), visitor(reduced_motion="reduce")
    record_animations = """
      const animate = Element.prototype.animate;
      window.moved = [];
      Element.prototype.animate = function (...how) {
        window.moved.push(this.className);
        return animate.apply(this, how);
      };
    """
    page.add_init_script(record_animations)
    wall.add_init_script(record_animations)
    wall.goto(machine.get_absolute_url())
    expect(wall.locator(".wall-box").first).to_be_visible()
    start_first(page)
    play_out_mouse(page)
    expect(wall.locator(".wall-last")).to_have_count(1)
    for each_page in (page, wall):
        assert each_page.evaluate("window.moved") == []
        assert each_page.evaluate(RUNNING_ANIMATIONS) == []


def test_animations_are_short_and_can_be_skipped(page: Page) -> None:
    house_machines()
    page.add_init_script(
        """
        const animate = Element.prototype.animate;
        window.durations = [];
        Element.prototype.animate = function (frames, how) {
          window.durations.push((how.duration ?? how) + (how.delay ?? 0));
          return animate.call(this, frames, how);
        };
        """
    )
    start_first(page)
    play_mouse(page, "5")
    expect_turn(page)
    durations = page.evaluate("window.durations")
    assert durations
    assert max(durations) <= 400


def test_the_match_page_is_small_and_loads_only_from_the_site(page: Page, watch: Watch) -> None:
    """All files together have at most 200 kB as sent, and all scripts are the site's own or lit-html."""
    house_machines()
    page.goto(NOUGHTS_PAGE)
    start_button = page.locator("#play-first")
    expect(start_button).to_be_visible()
    page.context.clear_cookies()
    page.goto(NOUGHTS_PAGE)
    page.locator("#play-first").click()
    expect_turn(page)
    address = page.url
    cookies = page.context.cookies()
    browser = page.context.browser
    assert browser is not None
    # This browser has an empty cache, and the cookies of the seat.
    context = watch.observe(browser.new_context(base_url=watch.origin))
    context.add_cookies(cookies)  # type: ignore[arg-type]  # the types differ, the values do not
    watch.requests.clear()
    first_page = context.new_page()
    first_page.goto(address)
    expect_turn(first_page)
    expect(first_page.locator("#connection")).to_be_hidden()
    requests = [request for request in watch.requests if request.frame.page == first_page]
    sizes = {}
    for request in requests:
        response = request.response()
        assert response is not None
        response.finished()
        size = request.sizes()
        sizes[request.url] = size["responseBodySize"] + size["responseHeadersSize"]
    print(f"match page: {sum(sizes.values()):,} bytes in {len(sizes)} requests")  # noqa: T201  # a figure to be read
    assert sum(sizes.values()) <= MATCH_PAGE_MAX_BYTES
    assert len(sizes) == len(requests), "a file was requested twice"
    assert all(url.startswith(f"{watch.origin}/") for url in sizes)

    scripts = [url for url in sizes if url.endswith(".js")]
    assert scripts
    own_scripts = (f"{watch.origin}/static/js/", f"{watch.origin}/static/vendor/lit-html-")
    assert all(url.startswith(own_scripts) for url in scripts)
    count_inline_scripts = (
        "[...document.scripts].filter((script) => !script.src && script.type !== 'application/json').length"
    )
    assert first_page.evaluate(count_inline_scripts) == 0
    context.close()


def test_the_board_needs_only_the_modules_of_the_page(page: Page) -> None:
    house_machines()
    page.route(
        lambda url: url.endswith(".js") and "/static/js/" not in url and "/lit-html-" not in url,
        lambda route: route.abort(),
    )
    page.route("**/theme.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    start_first(page)
    play_out_mouse(page)


def test_the_chosen_theme_is_stored(page: Page) -> None:
    page.goto("/")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    before = page.evaluate(background)
    page.locator("#theme").click()
    assert page.evaluate(background) != before
    chosen_background = page.evaluate(background)
    page.goto("/about")
    assert page.evaluate(background) == chosen_background
    expect(page.locator("#theme")).to_have_attribute("aria-label", "Use the light theme")


def test_the_sheet_is_dragged_open_and_closed(visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    page = visitor(**browser_options(360, 740))
    data = create_world(live_site, watch)
    play_to_middle(page, data)
    handle = page.locator("#box-handle")
    expect(handle).to_have_attribute("aria-expanded", "false")
    expect(page.locator("#odds")).to_be_hidden()
    handle.tap()
    expect(page.locator("#odds")).to_be_visible()
    expect(page.locator("#matchbox .stack-number").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#odds")).to_be_hidden()
    expect(handle).to_be_focused()


def test_a_tap_opens_the_box_of_a_change_after_the_match(visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    page = visitor(**browser_options(360, 740))
    play_to_end(page, create_world(live_site, watch))
    page.locator("#changes button").first.tap()
    expect(page.locator("#odds")).to_be_visible()
    expect(page.locator("#odds")).to_contain_text("→")


def test_a_button_copies_the_room_code(page: Page) -> None:
    house_machines()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    start_first(page)
    page.locator("#copy-link").click()
    expect(page.locator("#copied")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
