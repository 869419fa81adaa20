import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { FineTune } from "../../data/finetunes";
import { TimeLeft } from "./Curve";

function drawn(phase: string): string {
  const progress = {
    progressPercentage: 40,
    estimatedRemainingSeconds: 600,
    lastUpdatedTime: "2026-11-15T05:00:00Z",
  };
  return renderToStaticMarkup(
    <TimeLeft tune={{ phase, progress, startTime: null } as unknown as FineTune} />,
  );
}

test("time is left of what runs, and of nothing that waits or is suspended", () => {
  expect(drawn("Running")).toContain("0 s");
  for (const phase of ["Paused", "Queued", "Restarting"]) {
    expect(drawn(phase)).toContain("not known");
    expect(drawn(phase)).toContain("40 % done");
  }
  expect(drawn("Failed")).toContain("it has ended");
});
