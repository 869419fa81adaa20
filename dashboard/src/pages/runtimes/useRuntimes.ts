/** The runtimes that are built in, or those of a backend. */
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../data/errors";
import { offerQuery, runtimesQuery } from "../../data/places";

interface Found {
  runtimes: readonly unknown[] | undefined;
  error: unknown;
  refetch: () => void;
}

export function useRuntimes(backend: string): Found {
  const builtIn = useQuery({ ...runtimesQuery, enabled: backend === "" });
  const offer = useQuery(offerQuery(backend));
  if (backend === "") {
    return { runtimes: builtIn.data, error: builtIn.error, refetch: () => void builtIn.refetch() };
  }
  const problem = offer.data?.problem;
  return {
    runtimes: problem ? undefined : offer.data?.runtimes,
    error: problem ? new ApiError(503, "unavailable", problem) : offer.error,
    refetch: () => void offer.refetch(),
  };
}
