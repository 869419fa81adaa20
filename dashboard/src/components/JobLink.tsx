import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** A link to the page of a job. */
export function JobLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <Link to="/jobs/$job" params={{ job: id }} className="tw-link">
      {children}
    </Link>
  );
}
