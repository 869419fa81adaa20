import { Tab, Tabs, TabTitleText } from "@patternfly/react-core/dist/dynamic/components/Tabs";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Suspense, useEffect } from "react";
import { later } from "../../components/later";
import { Loading } from "../../components/Loading";
import { value, type Search } from "../../data/search";
import type { JobProps } from "./jobProps";

/** The code of a tab is loaded when somebody opens it. */
const TABS = [
  { id: "progress", title: "Progress", View: later<JobProps>(() => import("./progress/ProgressTab")) },
  { id: "nodes", title: "Nodes", View: later<JobProps>(() => import("./nodes/NodesTab")) },
  { id: "logs", title: "Logs", View: later<JobProps>(() => import("./logs/LogsTab")) },
  { id: "events", title: "Events", View: later<JobProps>(() => import("./EventsTab")) },
  { id: "attempts", title: "Attempts", View: later<JobProps>(() => import("./AttemptsTab")) },
  { id: "files", title: "Files", View: later<JobProps>(() => import("./FilesTab")) },
  { id: "yaml", title: "YAML", View: later<JobProps>(() => import("./yaml/YamlTab")) },
  { id: "placement", title: "Placement", View: later<JobProps>(() => import("./placement/PlacementTab")) },
  { id: "resources", title: "Resources and queue", View: later<JobProps>(() => import("./ResourcesTab")) },
];

/** Load the code of the tab that the address names, which is shown when the job is known. */
export function loadTab(search: Search): void {
  tabOf(search)
    ?.View.load()
    .catch(() => undefined); // whoever shows it says so
}

function tabOf(search: Search) {
  return TABS.find((tab) => tab.id === value(search, "tab")) ?? TABS[0];
}

export function JobTabs({ job }: JobProps) {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const chosen = tabOf(search);
  useEffect(() => {
    // On a phone not all tabs are in sight.
    const tab = document.querySelector(".tw-job-tabs [aria-selected=true]");
    const list = tab?.closest(".pf-v6-c-tabs__list");
    if (!tab || !list) return;
    // Only sideways: `scrollIntoView` would scroll the name of the job out of sight too.
    const [here, around] = [tab.getBoundingClientRect(), list.getBoundingClientRect()];
    list.scrollLeft += here.left - around.left - (around.width - here.width) / 2;
  }, [chosen?.id]);
  if (!chosen) return null;
  const open = (id: string) =>
    void navigate({
      to: "/jobs/$job",
      params: { job: job.metadata.id },
      search: { tab: id },
    });
  return (
    <>
      <Tabs
        activeKey={chosen.id}
        onSelect={(_, key) => open(String(key))}
        aria-label="About the job"
        className="tw-job-tabs"
      >
        {TABS.map((tab) => (
          <Tab
            key={tab.id}
            eventKey={tab.id}
            title={<TabTitleText>{tab.title}</TabTitleText>}
            tabContentId={`tab-${tab.id}`}
          />
        ))}
      </Tabs>
      <section id={`tab-${chosen.id}`} role="tabpanel" aria-label={chosen.title} className="tw-tab">
        <Suspense fallback={<Loading what={chosen.title} />}>
          <chosen.View key={job.metadata.id} job={job} />
        </Suspense>
      </section>
    </>
  );
}
