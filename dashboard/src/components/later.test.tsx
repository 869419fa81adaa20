import { Suspense } from "react";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { later } from "./later";

function Lines({ count }: { count: number }) {
  return <p>{`${count} lines`}</p>;
}

function drawn(View: ReturnType<typeof later<{ count: number }>>): string {
  return renderToString(
    <Suspense fallback={<p>Loading</p>}>
      <View count={3} />
    </Suspense>,
  );
}

test("what is not loaded yet has something in its place", () => {
  const View = later(() => Promise.resolve({ default: Lines }));
  expect(drawn(View)).toContain("Loading");
});

test("what was loaded before is drawn at once", async () => {
  const View = later(() => Promise.resolve({ default: Lines }));
  await View.load();
  expect(drawn(View)).toContain("3 lines");
  expect(drawn(View)).not.toContain("Loading");
});

test("who loads it is told that it cannot be had", async () => {
  const View = later<{ count: number }>(() => Promise.reject(new Error("gone")));
  await expect(View.load()).rejects.toThrow("gone");
});
