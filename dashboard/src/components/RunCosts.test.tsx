import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import type { Schemas } from "../data/client";
import { RunCosts } from "./RunCosts";

// PatternFly brings CSS along, which nothing here can read: what our own components say is looked at.
vi.mock("@patternfly/react-core/dist/dynamic/components/Alert", () => ({
  Alert: ({ title, children }: { title: ReactNode; children: ReactNode }) => (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  ),
}));
vi.mock("@patternfly/react-core/dist/dynamic/components/Label", () => ({
  Label: ({ children }: { children: ReactNode }) => <strong>{children}</strong>,
}));
vi.mock("@patternfly/react-core/dist/dynamic/components/Progress", () => ({ Progress: () => null }));
vi.mock("@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon", () => ({ default: () => null }));
vi.mock("@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon", () => ({ default: () => null }));

function drawn(status: Partial<Schemas["Run"]["status"]>): string {
  const metadata = { id: "i", name: "demo", creationTimestamp: "2026-11-15T05:00:00Z" };
  const run = { metadata, status: { phase: "Running", phases: {}, ...status } };
  return renderToStaticMarkup(<RunCosts run={run} />);
}

const SPENT = { limit: 20, warned: "2026-11-15T05:00:00Z", ended: "2026-11-15T06:00:00Z" };

test("a run without price and limit has no costs", () => {
  expect(drawn({})).toBe("");
  expect(drawn({ usage: {}, budget: null })).toBe("");
});

test("what a run has cost stands beside its limit", () => {
  const html = drawn({ usage: { cost: 5 }, budget: { limit: 20, warned: null, ended: null } });
  expect(html).toContain("$5.00 of at most $20.00");
  expect(html).toContain("25 % of the limit");
  expect(html).not.toMatch(/is spent|was ended/);
});

test("it warns when little is left", () => {
  const html = drawn({ usage: { cost: 17 }, budget: { limit: 20, warned: null, ended: null } });
  expect(html).toContain("80 % or more is spent");
  expect(html).not.toContain("was ended");
});

test("it says that a run was ended since all is spent, and what to do", () => {
  const html = drawn({ usage: { cost: 20.4 }, budget: SPENT });
  expect(html).toContain("102 % of the limit");
  expect(html).toContain("All of it is spent");
  expect(html).toContain("The run was ended by its limit of costs");
  expect(html).toContain("All of the $20.00 that it may cost was spent");
  expect(html).toContain("<code>trainway runs rerun demo</code>");
});
