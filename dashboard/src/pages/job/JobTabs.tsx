import { Tab, Tabs, TabTitleText } from "@patternfly/react-core/dist/dynamic/components/Tabs";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, type ComponentType } from "react";
import { Loading } from "../../components/Loading";
import { value } from "../../data/search";
import type { JobProps } from "./jobProps";

interface TabEntry {
  id: string;
  title: string;
  View: ComponentType<JobProps>;
}

/** The code of a tab is loaded when somebody opens it. */
const TABS: readonly TabEntry[] = [
  { id: "progress", title: "Progress", View: lazy(() => import("./progress/ProgressTab")) },
  { id: "nodes", title: "Nodes", View: lazy(() => import("./nodes/NodesTab")) },
  { id: "logs", title: "Logs", View: lazy(() => import("./logs/LogsTab")) },
  { id: "events", title: "Events", View: lazy(() => import("./EventsTab")) },
  { id: "attempts", title: "Attempts", View: lazy(() => import("./AttemptsTab")) },
  { id: "files", title: "Files", View: lazy(() => import("./FilesTab")) },
  { id: "yaml", title: "YAML", View: lazy(() => import("./yaml/YamlTab")) },
  { id: "resources", title: "Resources and queue", View: lazy(() => import("./ResourcesTab")) },
];

export function JobTabs({ job }: JobProps) {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const chosen = TABS.find((tab) => tab.id === value(search, "tab")) ?? TABS[0];
  useEffect(() => {
    // On a phone not all tabs are in sight.
    const tab = document.querySelector(".tw-job-tabs [aria-selected=true]");
    tab?.scrollIntoView({ block: "nearest", inline: "center" });
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
