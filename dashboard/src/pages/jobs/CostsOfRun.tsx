import { useQuery } from "@tanstack/react-query";
import { RunCosts } from "../../components/RunCosts";
import { runCostsQuery } from "../../data/runs";

/** Above the jobs of a run: what they have cost together. Whether it can be read or not, the list is there. */
export default function CostsOfRun({ run }: { run: string }) {
  const { data } = useQuery(runCostsQuery(run));
  return data ? <RunCosts run={data} /> : null;
}
