"""The pages Infra, Queues and Runtimes: this machine, a dead pool, a cluster with Kueue, clouds."""

from collections.abc import Iterator

import pytest
from browser import Dashboard, logged_in
from cloud_answers import HOSTILE as HOSTILE_MESSAGE
from cloud_answers import answer_for_clouds
from kubernetes_stub import HOSTILE, NO_QUOTA, stub_cluster
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]

POOL = "pools: {lab: {hosts: [{name: dead, host: 127.0.0.1, port: 9}]}}\n"
MACHINE = '{"cpu": "4", "memory": "8Gi", "gpus": 2}'


@pytest.fixture(scope="module")
def site(shared_chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """One job holds a GPU, and another waits for two."""
    home = tmp_path_factory.mktemp("infra")
    (home / "config.yaml").write_text(POOL)
    with stub_cluster(tmp_path_factory.mktemp("stub")) as kubeconfig:
        variables = {"KUBECONFIG": str(kubeconfig), "TRAINWAY_LOCAL_CAPACITY": MACHINE}
        with logged_in(shared_chromium, home, variables) as made:
            made.trainway.submit("--name", "holder", "--gpus", "1", "--", "sleep", "600")
            made.trainway.submit("--name", "waiter", "--gpus", "2", "--", "true")
            yield made
            assert made.close_windows() == []


def test_every_backend_is_shown_also_one_that_is_dead(site: Dashboard) -> None:
    page = site.window().open("/infra")
    gpus = page.get_by_role("region", name="GPUs of local")
    expect(gpus.get_by_role("cell", name="in use")).to_have_count(1)
    expect(gpus.get_by_role("cell", name="free")).to_have_count(1)
    expect(page.get_by_role("region", name="Nodes of local")).to_contain_text("holder")
    cluster = page.get_by_role("region", name="Nodes of k8s/stub")
    expect(cluster).to_contain_text("it is cordoned")
    expect(cluster.get_by_text(HOSTILE)).to_be_visible()
    expect(page.get_by_role("region", name="Nodes of ssh/lab")).to_contain_text("Takes no jobs")
    page.get_by_role("button", name="Check ssh/lab").click()
    expect(page.get_by_role("region", name="Check of ssh/lab")).to_contain_text("Problem")


def test_a_cloud_without_credentials_says_what_to_do(site: Dashboard) -> None:
    page = site.window().open("/infra")
    clouds = page.get_by_role("region", name="Clouds", exact=True)
    expect(clouds.get_by_text("There are no credentials for a cloud")).to_be_visible()
    unusable = clouds.get_by_role("region", name="Clouds that cannot be used")
    row = unusable.get_by_role("row").filter(has_text="lambda")
    expect(row).to_contain_text("LAMBDA_API_KEY")


def test_a_cloud_shows_what_is_rented_what_it_costs_and_what_was_refused(site: Dashboard) -> None:
    window = site.window()
    page = window.context.new_page()
    answer_for_clouds(page)
    window.go(page, "/infra")
    clouds = page.get_by_role("region", name="Clouds", exact=True)
    expect(clouds.get_by_text("3 machines of 2 clusters, $31.50 an hour")).to_be_visible()
    expect(clouds.get_by_text("An offer is looked for: sweep-3")).to_be_visible()
    rented = clouds.get_by_role("region", name="Rented of aws")
    running, stopped = rented.get_by_role("row").all()[1:]
    expect(running).to_contain_text("p5.48xlarge, spot")
    expect(running).to_contain_text("us-east-1a")
    expect(stopped).to_contain_text("g5.xlarge, reserved")
    expect(stopped.get_by_text(f"STOPPED: {HOSTILE_MESSAGE}")).to_be_visible()
    refused = clouds.get_by_role("region", name="Refused by aws")
    expect(refused).to_contain_text("there is no room for 2 p4d.24xlarge")
    clouds.get_by_text("Regions of aws").focus()
    page.keyboard.press("Enter")
    expect(clouds.get_by_text("eu-west-0, eu-west-1")).to_be_visible()
    clouds.get_by_text("What gcp cannot do").click()
    expect(clouds.get_by_text("quotas of Google Cloud are not asked for")).to_be_visible()
    unusable = clouds.get_by_role("region", name="Clouds that cannot be used")
    expect(unusable.get_by_role("row")).to_have_count(2)


def test_who_waits_is_told_why(site: Dashboard) -> None:
    page = site.window().open("/queues")
    own = page.get_by_role("region", name="Jobs that wait on local")
    expect(own).to_contain_text("needs 2 GPUs, 1 free; holder holds GPU 0")
    kueue = page.get_by_role("region", name="Queue ml/team")
    expect(kueue).to_contain_text("9 of 8 used, 1 of it borrowed")
    first, second = kueue.get_by_role("row").all()[1:]
    expect(first).to_contain_text(NO_QUOTA)
    expect(second).to_contain_text(HOSTILE)


def test_a_runtime_leads_to_a_new_job(site: Dashboard) -> None:
    page = site.window().open("/runtimes")
    page.get_by_role("link", name="jax-distributed", exact=True).click()
    expect(page.get_by_label("Template")).to_contain_text("kind: ClusterTrainingRuntime")
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_role("heading", name="Create a job")).to_be_visible()
    expect(page.get_by_text("name: jax-distributed")).to_be_visible()
    site.windows[-1].go(page, "/runtimes?backend=k8s%2Fstub")
    expect(page.get_by_role("link", name="of-the-cluster", exact=True)).to_be_visible()


def test_of_several_places_the_job_goes_to_the_one_that_is_chosen(site: Dashboard) -> None:
    page = site.window().open("/create?kind=Task&backend=ssh/lab")
    where = page.get_by_role("combobox", name="Where it runs")
    expect(where).to_have_value("ssh/lab")
    page.get_by_role("textbox", name="Name").fill("placed")
    page.get_by_role("button", name="Choose between several places").click()
    page.get_by_role("checkbox", name="ssh/lab").check()
    expect(page.get_by_text("Choose one more to compare them")).to_be_visible()
    page.get_by_role("checkbox", name="local").check()
    offers = page.get_by_role("region", name="Places", exact=True).get_by_role("row")
    best, other = offers.nth(1), offers.nth(2)
    expect(best).to_contain_text("local chosen")
    expect(other).to_contain_text("ssh/lab")
    expect(other).not_to_contain_text("chosen")
    expect(where).to_have_value("local")
    page.get_by_role("textbox", name="Variables").fill("RATE=0.5")
    expect(page.get_by_text("The job has changed since")).to_be_visible()
    page.get_by_role("button", name="Ask again").click()
    expect(best).to_contain_text("local chosen")
    expect(page.get_by_text("The job has changed since")).to_have_count(0)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1, name="placed")).to_be_visible()
    assert site.trainway.job("placed")["spec"]["backend"] == "local"
