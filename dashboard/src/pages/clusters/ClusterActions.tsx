import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Checkbox } from "@patternfly/react-core/dist/dynamic/components/Checkbox";
import { Flex } from "@patternfly/react-core/dist/dynamic/layouts/Flex";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorAlert } from "../../components/ErrorAlert";
import { NameList } from "../../components/NameList";
import { act, clustersQuery, type Cluster, type ClusterJob, type ClusterWish } from "../../data/clusters";
import { KEYS } from "../../data/queries";
import { AutostopDialog } from "./AutostopDialog";
import { endedWith } from "./cluster";

interface Props {
  cluster: Cluster;
  jobs: readonly ClusterJob[];
}

/** What can be done with the cluster now. */
export function ClusterActions({ cluster, jobs }: Props) {
  const { name } = cluster.metadata;
  const { directory, phase, stoppable } = cluster.status;
  const [asked, setAsked] = useState<"stop" | "down" | "autostop" | null>(null);
  const [isPurged, setPurged] = useState(false);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const doing = useMutation({
    mutationFn: (wish: ClusterWish) => act(name, wish),
    onSuccess: async (_, wish) => {
      setAsked(null);
      if (wish.does === "down") {
        await navigate({ to: "/clusters" });
        queryClient.removeQueries({ queryKey: [KEYS.jobs, "cluster", name] });
        await queryClient.invalidateQueries(clustersQuery);
      } else void queryClient.invalidateQueries({ queryKey: [KEYS.jobs] });
    },
    onError: () => setAsked(null),
  });
  const isStopped = phase === "STOPPED";
  const names = endedWith(jobs);
  return (
    <>
      <Flex gap={{ default: "gapSm" }} className="tw-actions">
        {isStopped && (
          <Button
            variant="secondary"
            isDisabled={doing.isPending}
            onClick={() => doing.mutate({ does: "start" })}
          >
            Start
          </Button>
        )}
        {!isStopped && stoppable && (
          <Button variant="secondary" isDisabled={doing.isPending} onClick={() => setAsked("stop")}>
            Stop
          </Button>
        )}
        <Button variant="secondary" isDisabled={doing.isPending} onClick={() => setAsked("autostop")}>
          Autostop…
        </Button>
        <Button variant="danger" isDisabled={doing.isPending} onClick={() => setAsked("down")}>
          Take down
        </Button>
      </Flex>
      {doing.error && <ErrorAlert error={doing.error} />}
      {asked === "autostop" && (
        <AutostopDialog
          cluster={cluster}
          isPending={doing.isPending}
          onChoose={(at) => doing.mutate({ does: "autostop", at })}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === "stop" && (
        <ConfirmDialog
          title={`Stop ${name}?`}
          button="Stop the cluster"
          isPending={doing.isPending}
          onConfirm={() => doing.mutate({ does: "stop" })}
          onClose={() => setAsked(null)}
        >
          <p>It gives back its nodes and can be started again. {warning(names)}</p>
          <NameList names={names} />
        </ConfirmDialog>
      )}
      {asked === "down" && (
        <ConfirmDialog
          title={`Take down ${name}?`}
          button="Take down the cluster"
          isPending={doing.isPending}
          onConfirm={() => doing.mutate({ does: "down", purge: isPurged })}
          onClose={() => setAsked(null)}
        >
          <p>
            It gives back its nodes and is forgotten
            {directory === null && ", with its working directory on them"}. {warning(names)}
          </p>
          <NameList names={names} />
          {doing.error && (
            <Checkbox
              id="purge"
              label="Forget it even if nothing answers; its nodes may then still be held"
              isChecked={isPurged}
              onChange={(_, isChosen) => setPurged(isChosen)}
            />
          )}
        </ConfirmDialog>
      )}
    </>
  );
}

function warning(names: readonly string[]): string {
  return names.length > 0 ? "These jobs end:" : "No job of it runs or waits.";
}
