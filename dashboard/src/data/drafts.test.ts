import { afterEach, expect, test, vi } from "vitest";
import { submit, type DraftReport } from "./drafts";
import { create, type Times } from "./schedules";

const TIMES: Times = { name: "", cron: "@daily", timezone: "UTC", catchUp: "once", overlap: "forbid" };
const TASK = { task: { run: "true" } };

function task(count: number, header?: object) {
  return { kind: "Task", spec: { ...(header ? { header } : {}), tasks: Array(count).fill(TASK) } };
}

/** What is sent of these objects, by each page that submits. */
async function sent(objects: object[]): Promise<unknown[]> {
  const options: unknown[] = [];
  vi.stubGlobal("fetch", (url: string, { body }: RequestInit) => {
    if (url.endsWith("/session")) return Promise.resolve(Response.json({ csrf: "" }));
    options.push((JSON.parse(body as string) as { options: unknown }).options);
    return Promise.resolve(Response.json({ job: { metadata: { id: "1" } }, schedule: {} }));
  });
  const report = { objects, labels: { user: "me" } } as unknown as DraftReport;
  await submit(report, "local", "", "key");
  await create(TIMES, report, "local", "key");
  return options;
}

afterEach(() => vi.unstubAllGlobals());

test.each([
  ["a pipeline", [task(2)], true],
  ["one with a header", [{ kind: "Secret" }, task(2, { name: "p", execution: "serial" })], true],
  ["a job group", [task(2, { name: "g", execution: "PARALLEL" })], false],
  ["a task", [task(1)], false],
  ["a manifest", [{ kind: "JobSet", spec: {} }], false],
])("%s is submitted as the command line would", async (_, objects, isPipeline) => {
  const options = { backend: "local", labels: { user: "me" }, ...(isPipeline ? { pipeline: true } : {}) };
  expect(await sent(objects)).toEqual([options, options]);
});
