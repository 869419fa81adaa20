import { useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";

/**
 * A link to the page of a job, whose code is loaded as soon as somebody points at it. The router's own
 * `Link` is drawn again whenever the address changes, which a long list has no time for.
 */
export function JobLink({ id, children }: { id: string; children: ReactNode }) {
  const router = useRouter();
  const goal = { to: "/jobs/$job", params: { job: id } } as const;
  const prepare = () => void router.preloadRoute(goal);
  const go = (event: MouseEvent) => {
    const isElsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.defaultPrevented || event.button !== 0 || isElsewhere) return;
    event.preventDefault();
    void router.navigate(goal);
  };
  const href = `/dashboard/jobs/${encodeURIComponent(id)}`;
  return (
    <a href={href} className="tw-link" onClick={go} onMouseEnter={prepare}>
      {children}
    </a>
  );
}
