"""The page in a real browser: it runs, looks like something, fetches nothing, sorts and filters."""

import io

import numpy as np
import pytest
from matplotlib.image import imread

from browsing import CHROMIUM, Visit, launched
from vmqp.report.build import report
from vmqp.report.content import Column, Measure, Picture, Predictions, Verdict
from vmqp.report.page import write

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: the page is checked as text only"),
    # All in one process under pytest-xdist: a browser is slow to start.
    pytest.mark.xdist_group("browser"),
]
COLUMNS = {"place": 0, "east": 1, "mean": 2, "variance": 3}


@pytest.fixture(scope="module")
def browser():
    with launched() as chromium:
        yield chromium


class ReportVisit(Visit):
    """A report that is open, with its table."""

    def head(self, name):
        return self.page.locator("#predictions-table thead th").filter(has_text=name)

    def cells(self, name):
        """Shown texts of a column, in order; the dials are no column."""
        return self.page.evaluate(
            """column => Array.from(document.querySelectorAll("#predictions-table tbody tr"))
                .filter(row => row.getClientRects().length > 0)
                .map(row => row.querySelectorAll("td:not(.dial)")[column].textContent)""",
            COLUMNS[name],
        )

    def count(self):
        return self.page.locator("#rows-shown").inner_text()


def numbers(texts):
    return [np.nan if text == "–" else float(text.replace("−", "-")) for text in texts]


@pytest.fixture
def visit(browser, tmp_path):
    """Open pages; at the end of a test none may have had a console message or asked for the network."""
    visits = []

    def open_page(content, **options):
        path = write(content, tmp_path / "report.html")
        visits.append(ReportVisit(browser, path.as_uri(), **options))
        return visits[-1]

    yield open_page
    for each in visits:
        each.close()


def test_page_is_not_blank(visit, page_content):
    opened = visit(page_content())
    pixels = imread(io.BytesIO(opened.page.screenshot()))[..., :3]
    assert pixels.std() > 0.02
    assert opened.page.locator("#verdict h2").inner_text().endswith("These predictions can be trusted")
    broken = opened.page.evaluate("Array.from(document.images).filter(image => !image.naturalWidth).length")
    assert broken == 0


def test_the_check_of_the_network_would_notice(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text('<img src="http://127.0.0.1:9/x.png">')
    opened = Visit(browser, path.as_uri())
    opened.page.wait_for_load_state()
    assert opened.requests == ["http://127.0.0.1:9/x.png"]
    opened.context.close()


def test_table_sorts_by_number_with_missing_values_last(visit, page_content):
    opened = visit(page_content())
    opened.page.select_option("#page-size", label="all")
    given = opened.cells("mean")
    head = opened.head("mean")
    button = head.get_by_role("button")
    for order, direction in (("ascending", 1), ("descending", -1)):
        button.click()
        assert head.get_attribute("aria-sort") == order
        sorted_means = numbers(opened.cells("mean"))
        assert np.isnan(sorted_means[-2:]).all()
        assert (direction * np.diff(sorted_means[:-2]) >= 0).all()
        assert len(sorted_means) == 60
    button.click()
    assert head.get_attribute("aria-sort") == "none"
    assert opened.cells("mean") == given


def test_negative_numbers_sort_as_numbers(visit, page_content):
    opened = visit(page_content())
    opened.head("east").get_by_role("button").click()
    shown = numbers(opened.cells("east"))
    assert shown[0] < -10
    assert (np.diff(shown) >= 0).all()
    assert opened.page.locator('th[aria-sort="ascending"]').count() == 1


def test_names_sort_with_their_numbers(visit, page_content):
    opened = visit(page_content(12))
    head = opened.head("place").get_by_role("button")
    head.click()
    head.click()
    assert opened.cells("place")[:3] == ["Station 11", "Station 10", "Station 9"]


def test_sorting_works_from_the_keyboard(visit, page_content):
    opened = visit(page_content())
    button = opened.head("variance").get_by_role("button")
    button.focus()
    opened.page.keyboard.press("Enter")
    assert opened.head("variance").get_attribute("aria-sort") == "ascending"
    assert (np.diff(numbers(opened.cells("variance"))) >= 0).all()
    assert button.evaluate("button => button === document.activeElement")


FILTERS = {
    "variance > 0.5": lambda row: row[3] > 0.5,
    "VAR>0.5": lambda row: row[3] > 0.5,
    "variance <= 0.25, east > -20": lambda row: row[3] <= 0.25 and row[1] > -20,
    "variance ≥ 0.25 and east < −20": lambda row: row[3] >= 0.25 and row[1] < -20,
    "mean 330..60": lambda row: not np.isnan(row[2]) and (row[2] - 330) % 360 <= 90,
    "east -10..10": lambda row: -10 <= row[1] <= 10,
    "station 12": lambda row: row[0] == "Station 12",
    "no such place": lambda row: False,
    "": lambda row: True,
}


def test_filter(visit, page_content):
    content = page_content()
    opened = visit(content)
    opened.page.select_option("#page-size", label="all")
    for text, kept in FILTERS.items():
        opened.page.fill("#filter", text)
        expected = [row[0] for row in content.predictions.rows if kept(row)]
        assert opened.cells("place") == expected, text
        assert opened.count() == ("60 rows." if not text else f"{len(expected)} of 60 rows match."), text


def test_filter_on_an_unknown_column_says_which_there_are(visit, page_content):
    opened = visit(page_content())
    opened.page.fill("#filter", "speed > 3")
    assert (
        opened.count()
        == "No column is called “speed”. The columns are: place, east, mean, variance, lower, upper."
    )
    assert opened.page.get_attribute("#filter", "aria-invalid") == "true"
    opened.page.fill("#filter", "mean > 3")
    assert opened.page.get_attribute("#filter", "aria-invalid") is None


def test_sorting_keeps_the_filter(visit, page_content):
    opened = visit(page_content())
    opened.page.fill("#filter", "variance > 0.7")
    kept = set(opened.cells("place"))
    opened.head("mean").get_by_role("button").click()
    assert set(opened.cells("place")) == kept
    assert len(kept) < 25


def test_many_rows_turn_pages(visit, page_content):
    content = page_content(3600)
    opened = visit(content)
    assert opened.count() == "3,600 rows; shown: 1 to 25."
    opened.head("mean").get_by_role("button").click()
    ordered = sorted(row[2] for row in content.predictions.rows if not np.isnan(row[2]))
    assert numbers(opened.cells("mean")) == pytest.approx(ordered[:25], abs=0.051)
    opened.page.get_by_role("button", name="Next").click()
    assert opened.count() == "3,600 rows; shown: 26 to 50."
    assert numbers(opened.cells("mean")) == pytest.approx(ordered[25:50], abs=0.051)
    opened.page.get_by_role("button", name="Last").click()
    assert np.isnan(numbers(opened.cells("mean"))[-2:]).all()
    assert opened.page.get_by_role("button", name="Next").is_disabled()


def test_dial_shows_the_mean(visit, page_content):
    table = Predictions(
        page_content().predictions.columns,
        (("Station", 0.0, 90.0, 0.1, 60.0, 120.0), ("Other", 0.0, 90.0, 0.1, 20.0, 380.0)),
        page_content().predictions.dial,
    )
    opened = visit(page_content(predictions=table))
    dials = opened.page.locator("td.dial")
    assert dials.first.locator("path.hand").get_attribute("d") == "M20 20L35.00 20.00"  # east on a compass
    assert (
        dials.first.locator("path.arc")
        .get_attribute("d")
        .startswith("M20 20L35.59 11.00A18 18 0 0 1 35.59 29.00")
    )
    assert dials.nth(1).locator("circle.arc").count() == 1  # the whole circle is full, not empty


def test_page_fits_its_width(visit, page_content):
    long = "a_very_long_name_of_a_parameter_or_a_station_that_nobody_broke_into_words"
    opened = visit(page_content(title=long, question=(long * 3,)))
    for width in (320, 390, 1600):
        opened.page.set_viewport_size({"width": width, "height": 844})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.page.evaluate("document.body.scrollWidth") <= width


CONTRAST = """() => {
    const light = channels => channels.map(c => c / 255)
        .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const colour = text => text.match(/[\\d.]+/g).map(Number);
    const ground = element => {
        for (; element; element = element.parentElement) {
            const found = colour(getComputedStyle(element).backgroundColor);
            if (found.length === 3 || found[3] > 0) return found.slice(0, 3);
        }
        return [255, 255, 255];
    };
    return Array.from(document.querySelectorAll("body *"))
        .filter(element => !element.disabled && Array.from(element.childNodes)
            .some(node => node.nodeType === 3 && node.textContent.trim()))
        .filter(element => element.getClientRects().length > 0)
        .map(element => {
            const [a, b] = [light(colour(getComputedStyle(element).color)), light(ground(element))];
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), element.outerHTML.slice(0, 80)];
        });
}"""


@pytest.mark.parametrize(("trusted", "caution"), [(True, False), (True, True), (False, False)])
def test_text_has_the_contrast_that_wcag_asks_for(trusted, caution, visit, page_content):
    verdict = Verdict(trusted, "Headline", ("Why.",), ("What to do.",), caution=caution)
    opened = visit(page_content(verdict=verdict, diagnostics=(Measure("nugget", ("2", "9"), "no", False),)))
    found = opened.page.evaluate(CONTRAST)
    assert len(found) > 100
    assert [entry for entry in found if entry[0] < 4.5] == []


def test_whole_table_without_a_script(visit, page_content):
    opened = visit(page_content(), java_script_enabled=False)
    assert opened.page.locator("#predictions-table tbody tr").count() == 60
    assert opened.page.locator("#predictions-table tbody tr").last.is_visible()
    assert opened.page.locator("#filter").count() == 0


def test_print_shows_all_rows_that_match(visit, page_content):
    opened = visit(page_content())
    assert len(opened.cells("place")) == 25
    opened.page.emulate_media(media="print")
    assert len(opened.cells("place")) == 60
    assert opened.count() == "60 rows."  # not the part that the screen showed
    assert not opened.page.locator(".controls").is_visible()
    opened.page.emulate_media(media="screen")
    opened.page.fill("#filter", "variance > 0.5")
    opened.page.emulate_media(media="print")
    assert 0 < len(opened.cells("place")) < 60


def test_names_from_the_data_run_no_script(visit, page_content):
    evil = '"><img src=x onerror=document.title="owned">'
    table = Predictions(
        (Column("<script>document.title='owned'</script>"), Column(evil)), ((1.0, evil), (2.0, evil))
    )
    opened = visit(page_content(title="calm", predictions=table))
    opened.head("owned").first.get_by_role("button").click()
    opened.page.fill("#filter", f"{evil} > 3")
    opened.page.fill("#filter", "nothing > 3")
    assert evil in opened.count()
    assert opened.page.title() == "calm"
    assert opened.page.locator("img[src=x]").count() == 0


def test_svg_pictures_are_shown(visit, page_content):
    from matplotlib.figure import Figure

    figure, buffer = Figure(), io.BytesIO()
    figure.add_subplot().plot([0, 1])
    figure.savefig(buffer, format="svg")
    opened = visit(page_content(pictures=(Picture("Line", "", buffer.getvalue(), "A line"),)))
    image = opened.page.get_by_alt_text("A line")
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100


@pytest.mark.parametrize(
    ("verdict", "words"),
    [(True, "These predictions can be trusted"), (False, "Do not use these numbers yet")],
)
def test_report_of_a_posterior(verdict, words, browser, tmp_path, fake_posterior):
    posterior = fake_posterior([10.0, 100.0, 200.0, 300.0], [0.1, 0.4, 0.8, 1.6], trusted=verdict)
    path = report(posterior, tmp_path / "report.html", compass=True)
    opened = Visit(browser, path.as_uri())
    assert opened.page.locator("main section").first.inner_text().splitlines()[0].endswith(words)
    assert opened.page.locator("figure img").count() == 6
    assert opened.page.locator("#predictions-table tbody tr").count() == 4
    opened.close()
