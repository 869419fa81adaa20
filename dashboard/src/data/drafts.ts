/** Jobs that somebody is writing: the server makes manifests of forms, and checks texts. */
import { queryOptions } from "@tanstack/react-query";
import { change, get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type DraftForm = Required<Schemas["DraftForm"]>;
export type DraftReport = Schemas["DraftReport"];
export type DraftFinding = Schemas["DraftFinding"];
export type Json = Record<string, unknown>;

/** The manifest that a form describes. */
export async function documentOf(form: DraftForm, signal?: AbortSignal): Promise<Json> {
  const answer = await change("post", "/api/v1/drafts", { body: form, ...(signal ? { signal } : {}) });
  return answer.document as Json;
}

/** Everything that is wrong with a text, or what it compiles to. */
export function checkDraft(
  text: string,
  backend: string,
  rerun: string,
  signal?: AbortSignal,
): Promise<DraftReport> {
  return change("post", "/api/v1/drafts/check", {
    body: { text, backend, rerun },
    ...(signal ? { signal } : {}),
  });
}

/** A job to be changed and submitted again. */
export function startQuery(ref: string) {
  return queryOptions({
    queryKey: [KEYS.job, ref, "draft"],
    queryFn: ({ signal }) => get("/api/v1/drafts/from/{ref}", { path: { ref }, signal }),
    enabled: ref !== "",
    staleTime: Infinity,
  });
}

/** How the server is to run what a report says. */
export function optionsOf({ objects, labels }: DraftReport, backend: string): Schemas["SubmitOptions"] {
  const pipeline = objects.some(isPipeline) ? { pipeline: true } : {};
  return { backend, labels, ...pipeline } as Schemas["SubmitOptions"];
}

/** Whether it has several tasks that run one after the other, each as a job of its own. */
function isPipeline({ kind, spec }: Json): boolean {
  if (kind !== "Task") return false;
  const { header, tasks } = spec as { header?: { execution?: unknown } | null; tasks: unknown[] };
  return tasks.length > 1 && String(header?.execution).toLowerCase() !== "parallel";
}

/** Submits what a report says; a request that is repeated with its key makes no second job. */
export async function submit(
  report: DraftReport,
  backend: string,
  rerun: string,
  key: string,
): Promise<string> {
  if (rerun) {
    const job = report.objects.at(-1) ?? {};
    const made = await change("post", "/api/v1/jobs/{ref}/rerun", {
      path: { ref: rerun },
      body: { job, env: {}, set: [] },
      headers: { "Idempotency-Key": key },
    });
    return made.metadata.id;
  }
  const made = await change("post", "/api/v1/jobs", {
    body: {
      objects: report.objects,
      options: optionsOf(report, backend),
    },
    headers: { "Idempotency-Key": key },
  });
  return made.job.metadata.id;
}

/** A key that nobody has used. Pages that do not come over HTTPS have no `randomUUID`. */
export function freshKey(): string {
  const numbers = crypto.getRandomValues(new Uint32Array(4));
  return Array.from(numbers, (number) => number.toString(36)).join("-");
}
