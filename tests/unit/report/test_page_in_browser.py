"""Pages in a real browser: what they show, what can be done with them, and that nothing a test is called runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from nvdla_models.config import HwConfig
from nvdla_networks.network_page import network_page
from nvdla_tb.coverage.model import model_of
from nvdla_tb.explain import explain
from nvdla_tb.explain.page import page as failure_page
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.paths import PLANS
from nvdla_tb.report import page
from nvdla_tb.report.features_table import feature_status, section
from nvdla_tb.report.page_coverage import coverage_page, coverage_sections
from nvdla_tb.run.regress.features import load_feature_plan
from nvdla_tb.run.regress.store import Run
from nvdla_tb.stimulus.explained import Explained, Pointed
from tests.unit.explain import cases
from tests.unit.explain.test_page import one_surface
from tests.unit.report import browser
from tests.unit.report.test_network_page import VALUES, facts, report
from tests.unit.report.test_page import ended
from tests.unit.run.regress.tasks import VERDICTS

HOSTILE = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">'\"&"
CONFIG = HwConfig.load("nv_small")
CLIPBOARDS = ("that of the browser", "one that it denies", "none, as over plain HTTP")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(browser.MISSING, reason=browser.WHY)]

CONTRASTS = """
const ink = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
function light(colours) {  // the luminance of colours one above the other, by WCAG 2
  ink.clearRect(0, 0, 1, 1);
  for (const colour of colours) { ink.fillStyle = colour; ink.fillRect(0, 0, 1, 1); }
  const [r, g, b] = [...ink.getImageData(0, 0, 1, 1).data.slice(0, 3)]
    .map((value) => value / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const found = [];
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement;
  if (!texts.currentNode.data.trim() || !element.checkVisibility() || element.closest("option")) continue;
  const below = [];
  for (let at = element; at; at = at.parentElement) below.unshift(getComputedStyle(at).backgroundColor);
  const style = getComputedStyle(element);
  const text = element.closest("svg") ? style.fill : style.color;
  const [a, b] = [light(below), light([...below, text])];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.push(`${ratio.toFixed(2)}: ${element.tagName} ${element.className} ${element.textContent}`);
}
return found;
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[WebDriver]:
    with browser.started() as driver:
        yield driver


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a page of each kind."""
    root = tmp_path_factory.mktemp("pages")
    passed = root / "passed"
    passed.mkdir()
    (passed / "sim.log").write_text("all is well", encoding="utf-8")
    model = model_of("nv_small")
    plan = load_feature_plan(PLANS / "features.toml", model)
    run = Run(1, f"title {HOSTILE}", 0.0, root)
    entries = [
        *(ended(seed, VERDICTS[Ending.PASSED], seconds=seed, folder=passed) for seed in (9, 10, 11, 12, 13, 14, 15)),
        ended(2, Verdict.of(Check.TEST, f"wrong {HOSTILE}"), folder=root / 'a"b<c'),
        replace(ended(3, Verdict.of(Check.CRASH, HOSTILE)), rerun=HOSTILE),
        ended(4, Verdict(refused=HOSTILE)),
    ]
    hits = {name: 7 for name in model.reachable() if name.startswith(("SDP.", "CDP.channels="))}
    sections = [section(feature_status(plan, plan.features, {}, {})), *coverage_sections(model, hits)]
    now = {result.key: result.ending for result in entries}
    earlier = dataclasses.replace(run, id=0, folder=root / "0000")
    before = dict.fromkeys([entries[0].key], Ending.MISMATCH) | {entries[-2].key: Ending.PASSED, "other": Ending.PASSED}
    trend = [(earlier, before), (run, now)]
    page.write_html(run, entries, trend, root / "run.html", sections)

    explanation = explain(cases.evidence_of(cases.copy_layer(), cases.memory_for(3), one_surface))
    commands = [(what, what + " a_long_name" * 20) for what in CLIPBOARDS]
    why = Explained(
        [explanation.told(["A: 8, all right", HOSTILE])], [Pointed("SDP: " + HOSTILE)], ["reads: " + HOSTILE]
    )
    texts = {
        "failure": failure_page(
            "copy.1",
            [explanation],
            complaints=["wrong value: " + HOSTILE],
            why=why,
            commands=commands,
            about="the embedded DUT",
        ),
        "network": network_page(report(facts(0), facts(1, wrong_bytes=5), facts(2), got=VALUES + 1), CONFIG, []),
        "coverage": coverage_page("Coverage", model, hits),
    }
    for name, text in texts.items():
        (root / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: root / f"{name}.html" for name in ("run", *texts)}


def rows(driver: WebDriver, heading: str, column: int) -> list[str]:
    """Return the texts that a column of a table shows, from the top."""
    xpath = f"//section[h2='{heading}']//tbody/tr[not(@hidden)]/td[{column}]"
    return [cell.text for cell in driver.find_elements(By.XPATH, xpath)]


def test_a_page_shows_everything_and_runs_nothing_of_it(chromium: WebDriver, pages: dict[str, Path]) -> None:
    browser.opened(chromium, pages["run"])
    assert chromium.title.startswith(f"Run 1: title {HOSTILE}")
    assert len(chromium.find_elements(By.TAG_NAME, "script")) == 1, "that of the page"
    assert chromium.find_elements(By.TAG_NAME, "img") == []
    headings = {heading.text for heading in chromium.find_elements(By.TAG_NAME, "h2")}
    shown = ("Failures by cause and check", "Trend", "Test plan", "Functional coverage", "Holes", "All bins", "Slowest")
    assert headings >= {*shown, "Tasks"}


def test_what_would_break_out_of_a_page_is_not_run(chromium: WebDriver, pages: dict[str, Path], tmp_path: Path) -> None:
    """The second line of defence: the page's policy, should ever a text not be escaped."""
    text = pages["failure"].read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(text.replace("<h1>", f"<h1>{HOSTILE}"), encoding="utf-8")
    browser.opened(chromium, broken)
    assert len(chromium.find_elements(By.TAG_NAME, "script")) == 2
    assert chromium.title == "copy.1: the embedded DUT"
    blocked = [entry["message"] for entry in chromium.get_log("browser")]
    assert sum("Content Security Policy" in message for message in blocked) >= 2, blocked


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("name", ["run", "failure", "network", "coverage"])
def test_pages_fit_and_can_be_read(
    chromium: WebDriver, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    browser.opened(chromium, pages[name], width, scheme)
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
    assert chromium.execute_script(CONTRASTS) == []
    assert chromium.get_log("browser") == []


def test_a_narrow_page_shows_every_column_with_its_name(chromium: WebDriver, pages: dict[str, Path]) -> None:
    browser.opened(chromium, pages["run"], 400)
    ends = "return [...document.querySelectorAll('.rows tbody td')].map((cell) => cell.getBoundingClientRect().right)"
    assert 0 < max(chromium.execute_script(ends)) <= 400
    label = "return getComputedStyle(arguments[0], '::before').content"
    first = chromium.find_elements(By.XPATH, "//section[h2='Tasks']//tbody/tr[1]/td")
    names = ["result", "task", "layers", "bytes judged", "worst margin", "cycles", "seconds"]
    assert [chromium.execute_script(label, cell) for cell in first] == [f'"{name}: "' for name in names]


def test_a_page_is_dark_where_the_system_is(chromium: WebDriver, pages: dict[str, Path]) -> None:
    background = "return getComputedStyle(document.body).backgroundColor"
    seen = [
        browser.opened(chromium, pages["run"], scheme=scheme).execute_script(background) for scheme in ("light", "dark")
    ]
    assert seen == ["rgb(255, 255, 255)", "rgb(22, 24, 27)"]


def test_a_click_on_a_heading_sorts_numbers_as_numbers(chromium: WebDriver, pages: dict[str, Path]) -> None:
    browser.opened(chromium, pages["run"])
    seconds = ["9.0", "10.0", "11.0", "12.0", "13.0", "14.0", "15.0", "1.0", "1.0", "1.0"]
    assert rows(chromium, "Tasks", 7) == seconds
    button = chromium.find_element(By.XPATH, "//section[h2='Tasks']//th[7]/button")
    button.click()
    assert rows(chromium, "Tasks", 7) == sorted(seconds, key=float, reverse=True)
    assert button.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    button.click()
    assert rows(chromium, "Tasks", 7) == sorted(seconds, key=float)
    chromium.find_element(By.XPATH, "//section[h2='Tasks']//th[2]/button").click()
    names = rows(chromium, "Tasks", 2)
    assert [name.split(".")[1] for name in names] == ["2", "3", "4", "9", "10", "11", "12", "13", "14", "15"]


def test_rows_are_searched_and_chosen(chromium: WebDriver, pages: dict[str, Path]) -> None:
    browser.opened(chromium, pages["run"])
    search = chromium.find_element(By.CSS_SELECTOR, "input[aria-label='search in Tasks']")
    search.send_keys("VERILATOR random.1")
    assert len(rows(chromium, "Tasks", 2)) == 6
    assert "6 of 10 rows" in search.find_element(By.XPATH, "..").text
    search.clear()
    search.send_keys("nothing")
    assert rows(chromium, "Tasks", 2) == []
    search.clear()
    search.send_keys(" ")
    select = Select(search.find_element(By.XPATH, "../select"))
    assert [option.text for option in select.options] == [
        "result: all",
        "passed (7)",
        "failed check (1)",
        "crash (1)",
        "refused (1)",
    ]
    select.select_by_value("crash")
    assert rows(chromium, "Tasks", 1) == ["crash"]


def test_short_tables_have_no_search(chromium: WebDriver, pages: dict[str, Path]) -> None:
    browser.opened(chromium, pages["run"])
    assert chromium.find_elements(By.XPATH, "//section[h2='Slowest']//input") == []


def test_a_passed_test_leads_to_its_log(chromium: WebDriver, pages: dict[str, Path]) -> None:
    browser.opened(chromium, pages["run"])
    chromium.find_element(By.XPATH, "//section[h2='Tasks']//tr[td='passed']//a").click()
    assert "all is well" in chromium.page_source


def test_bins_are_browsed(chromium: WebDriver, pages: dict[str, Path]) -> None:
    browser.opened(chromium, pages["coverage"])
    chromium.find_element(By.CSS_SELECTOR, "input[aria-label='search in All bins']").send_keys("channels")
    Select(chromium.find_element(By.CSS_SELECTOR, "select[aria-label^='unit']")).select_by_value("CDP")
    names = rows(chromium, "All bins", 2)
    assert names == ["channels", "reach", "channels:size", "local_size*channels"], "by name, or by the name of a bin"
    details = chromium.find_element(By.XPATH, "//section[h2='All bins']//tr[td='CDP']//details[.//li]")
    assert not details.find_element(By.TAG_NAME, "li").is_displayed()
    details.find_element(By.TAG_NAME, "summary").click()
    bins = [item.text for item in details.find_elements(By.TAG_NAME, "li")]
    assert bins[0] == "1: 7"


@pytest.mark.parametrize("clipboard", CLIPBOARDS)
def test_a_command_is_copied_whole(chromium: WebDriver, pages: dict[str, Path], clipboard: str) -> None:
    browser.opened(chromium, pages["failure"])
    granted = ["clipboardReadWrite", *(["clipboardSanitizedWrite"] if clipboard != CLIPBOARDS[1] else [])]
    chromium.execute_cdp_cmd("Browser.grantPermissions", {"permissions": granted})
    chromium.execute_script("window.kept = navigator.clipboard")
    if clipboard == CLIPBOARDS[2]:
        chromium.execute_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    block = chromium.find_element(By.XPATH, f"//h3[.='{clipboard}']/following-sibling::div[1]")
    button = block.find_element(By.TAG_NAME, "button")
    button.click()
    WebDriverWait(chromium, 10).until(lambda _: button.text == "copied")
    copied = chromium.execute_async_script("kept.readText().then(arguments[0])")
    assert copied == clipboard + " a_long_name" * 20
