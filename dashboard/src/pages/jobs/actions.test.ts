import { expect, it } from "vitest";
import { perform, type Action, type Job } from "./actions";

const job = (id: string, phase: string) =>
  ({ metadata: { id, name: "same" }, status: { phase } }) as unknown as Job;

it("does it once for each job and key, and says with which it did not work", async () => {
  const asked: string[] = [];
  const action: Action = {
    name: "Rerun",
    warning: "",
    isFor: (phase) => phase !== "Running",
    run: (ref, key) => {
      asked.push(`${ref} ${key}`);
      return ref === "b" ? Promise.reject(new Error("refused")) : Promise.resolve();
    },
  };
  const jobs = [job("a", "Failed"), job("b", "Failed"), job("c", "Running")];
  const failed = await perform(action, jobs, "k");
  expect(failed.map(({ id, name }) => [id, name])).toEqual([["b", "same"]]);
  await perform(action, jobs, "k");
  expect(asked).toEqual(["a k-a", "b k-b", "a k-a", "b k-b"]);
});
