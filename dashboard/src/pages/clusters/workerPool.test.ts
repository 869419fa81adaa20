import { expect, test } from "vitest";
import type { Worker, WorkerPool } from "../../data/workerPools";
import { phaseText, workersText, workerText } from "./workerPool";

const pool = (minWorkers: number, maxWorkers: number, readyWorkers: number) =>
  ({ spec: { minWorkers, maxWorkers }, status: { readyWorkers } }) as WorkerPool;

test.each([
  [pool(2, 2, 1), "1 of 2 ready"],
  [pool(1, 4, 3), "3 ready, 1 to 4"],
  [pool(0, 4, 0), "0 ready, 0 to 4"],
])("how many workers there are, %#", (given, told) => {
  expect(workersText(given)).toBe(told);
});

test("states in words, those of a newer server as they are", () => {
  expect(phaseText("SETTING_UP")).toBe("Is being set up");
  expect(phaseText("DANCING")).toBe("DANCING");
});

test("a worker with its hosts, where they are known", () => {
  expect(workerText({ name: "warm-1", nodes: [] as Worker["nodes"] } as Worker)).toBe("warm-1");
  const nodes = [{ host: "h2" }, { host: "" }, { host: "h3" }] as Worker["nodes"];
  expect(workerText({ name: "warm-1", nodes } as Worker)).toBe("warm-1 on h2, h3");
  const here = [{ host: "this" }] as Worker["nodes"];
  expect(workerText({ name: "warm-1", nodes: here } as Worker)).toBe("warm-1");
});
