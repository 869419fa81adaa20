import type { ReactNode } from "react";
import { duration, elapsed } from "../../components/format";
import { Moment } from "../../components/Moment";
import { PhaseLabel } from "../../components/PhaseLabel";
import { useNow } from "../../components/useNow";
import type { Job } from "./actions";
import type { SortKey } from "./filters";

export interface Column {
  id: string;
  title: string;
  /** Its width in the grid. */
  width: string;
  sort?: SortKey;
  show: (job: Job) => ReactNode;
}

const USER = "trainway.dev/user";

function Took({ job }: { job: Job }) {
  const now = useNow();
  return <>{elapsed(job.status.startTime, job.status.completionTime, now)}</>;
}

function progressText(job: Job): string {
  const progress = job.status.progress as Record<string, unknown> | null;
  const percent = progress?.["progressPercentage"];
  const rest = progress?.["estimatedRemainingSeconds"];
  if (typeof percent !== "number") return "–";
  return typeof rest === "number" && rest > 0 ? `${percent} %, ${duration(rest)} left` : `${percent} %`;
}

function pairs(values: Record<string, string> | undefined): string {
  return Object.entries(values ?? {})
    .filter(([name]) => name !== USER)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}

/** What a row can show beside the job's name. */
export const COLUMNS: readonly Column[] = [
  {
    id: "phase",
    title: "Phase",
    width: "7rem",
    sort: "phase",
    show: (job) => <PhaseLabel phase={job.status.phase} />,
  },
  {
    id: "created",
    title: "Created",
    width: "minmax(5.5rem, 0.5fr)",
    sort: "created",
    show: (job) => <Moment time={job.metadata.creationTimestamp} />,
  },
  {
    id: "duration",
    title: "Duration",
    width: "minmax(5rem, 0.5fr)",
    sort: "started",
    show: (job) => <Took job={job} />,
  },
  { id: "progress", title: "Progress", width: "minmax(6rem, 0.7fr)", show: progressText },
  {
    id: "backend",
    title: "Backend",
    width: "minmax(5rem, 0.7fr)",
    sort: "backend",
    show: (job) => job.spec.backend,
  },
  { id: "kind", title: "Kind", width: "7rem", sort: "kind", show: (job) => job.spec.kind },
  { id: "user", title: "User", width: "8rem", show: (job) => job.metadata.labels[USER] ?? "–" },
  { id: "message", title: "Message", width: "minmax(9.5rem, 2fr)", show: (job) => job.status.message },
  { id: "labels", title: "Labels", width: "minmax(12rem, 1fr)", show: (job) => pairs(job.metadata.labels) },
  {
    id: "parameters",
    title: "Parameters",
    width: "minmax(12rem, 1fr)",
    show: (job) => pairs(job.spec.parameters),
  },
  { id: "priority", title: "Priority", width: "6rem", sort: "priority", show: (job) => job.spec.priority },
  { id: "restarts", title: "Restarts", width: "6rem", sort: "restarts", show: (job) => job.status.restarts },
  {
    id: "finished",
    title: "Finished",
    width: "7rem",
    sort: "finished",
    show: (job) => <Moment time={job.status.completionTime} />,
  },
  { id: "id", title: "Id", width: "9rem", show: (job) => job.metadata.id },
];

const USUAL = ["phase", "created", "duration", "progress", "backend", "message"];
const KEY = "trainway.jobs.columns";

export function storedColumns(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return Array.isArray(stored) ? stored.filter((id): id is string => typeof id === "string") : USUAL;
  } catch {
    return USUAL;
  }
}

export function storeColumns(ids: readonly string[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(ids));
  } catch {
    // They hold until the page is closed.
  }
}
