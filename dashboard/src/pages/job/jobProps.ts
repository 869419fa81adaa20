import type { Schemas } from "../../data/client";

/** What every part of a job's page is given. */
export interface JobProps {
  job: Schemas["Job"];
}
