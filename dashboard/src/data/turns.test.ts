import { expect, it } from "vitest";
import { turns } from "./turns";

it("runs at most so many tasks at a time, in order, also when one fails", async () => {
  const inTurn = turns(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const tasks = [0, 1, 2, 3].map((number) =>
    inTurn(async () => {
      begun.push(number);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (number === 0) throw new Error("dead");
      return number;
    }),
  );
  const settled = Promise.allSettled(tasks);
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  ends[0]?.();
  await tasks[0]?.catch(() => undefined);
  await Promise.resolve();
  expect(begun).toEqual([0, 1, 2]);
  while (ends.length < 4 || begun.length < 4) {
    for (const end of ends) end();
    await Promise.resolve();
  }
  for (const end of ends) end();
  expect((await settled).map((each) => each.status)).toEqual([
    "rejected",
    "fulfilled",
    "fulfilled",
    "fulfilled",
  ]);
});
