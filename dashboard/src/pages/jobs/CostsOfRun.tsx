import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { RunCosts } from "../../components/RunCosts";
import { runCostsQuery } from "../../data/runs";

/** Above the jobs of a run: its name, and what they have cost together. The list is there without it, too. */
export default function CostsOfRun({ run }: { run: string }) {
  const { data } = useQuery(runCostsQuery(run));
  if (!data) return null;
  return (
    <>
      <Title headingLevel="h2" size="md" className="tw-break">
        Run {data.metadata.name}
      </Title>
      <RunCosts run={data} />
    </>
  );
}
