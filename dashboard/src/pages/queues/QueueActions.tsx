import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Flex } from "@patternfly/react-core/dist/dynamic/layouts/Flex";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorAlert } from "../../components/ErrorAlert";
import { act, managedQueueQuery, managedQueuesQuery, type QueueWish } from "../../data/managedQueues";

interface Props {
  name: string;
  state: string;
  /** Whether somebody has made it; the one that is always there cannot be deleted. */
  isMade: boolean;
}

/** What can be done with a queue in its state. */
export function QueueActions({ name, state, isMade }: Props) {
  const [isAsked, setAsked] = useState(false);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const doing = useMutation({
    mutationFn: (wish: QueueWish) => act(name, wish),
    onSuccess: async (_, wish) => {
      if (wish === "delete") {
        await navigate({ to: "/queues" });
        queryClient.removeQueries(managedQueueQuery(name));
      } else await queryClient.invalidateQueries(managedQueueQuery(name));
      await queryClient.invalidateQueries(managedQueuesQuery);
    },
    onSettled: () => setAsked(false),
  });
  const button = (wish: QueueWish, title: string) => (
    <Button variant="secondary" isDisabled={doing.isPending} onClick={() => doing.mutate(wish)}>
      {title}
    </Button>
  );
  return (
    <>
      <Flex gap={{ default: "gapSm" }} className="tw-actions">
        {state !== "Open" && button("resume", "Resume")}
        {state !== "Paused" && button("pause", "Pause")}
        {state !== "Draining" && button("drain", "Drain")}
        {isMade && (
          <Button variant="danger" isDisabled={doing.isPending} onClick={() => setAsked(true)}>
            Delete
          </Button>
        )}
      </Flex>
      {doing.error && <ErrorAlert error={doing.error} />}
      {isAsked && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          button="Delete the queue"
          isPending={doing.isPending}
          onConfirm={() => doing.mutate("delete")}
          onClose={() => setAsked(false)}
        >
          <p>Its quotas and rules are forgotten. A queue in which there are jobs cannot be deleted.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
