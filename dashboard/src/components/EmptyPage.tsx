import { EmptyState, EmptyStateBody } from "@patternfly/react-core/dist/dynamic/components/EmptyState";
import type { ReactNode } from "react";

/** Says why there is nothing to see, and what to do. */
export function EmptyPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <EmptyState titleText={title} headingLevel="h2">
      <EmptyStateBody>{children}</EmptyStateBody>
    </EmptyState>
  );
}
