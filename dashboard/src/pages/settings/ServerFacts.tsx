import { useQuery } from "@tanstack/react-query";
import { ErrorAlert } from "../../components/ErrorAlert";
import { FactList } from "../../components/FactList";
import { elapsed } from "../../components/format";
import { Loading } from "../../components/Loading";
import { useNow } from "../../components/useNow";
import { backendsQuery } from "../../data/places";
import { serverQuery } from "../../data/queries";

const DATABASES: Readonly<Record<string, string>> = { sqlite: "SQLite", postgresql: "PostgreSQL" };

/** The process that this page talks to. */
export function ServerFacts() {
  const { data, error, refetch } = useQuery(serverQuery);
  const { data: backends } = useQuery(backendsQuery);
  const now = useNow();
  if (error && !data) {
    return <ErrorAlert error={error} title="The server could not be read" onRetry={() => void refetch()} />;
  }
  if (!data) return <Loading what="the server" />;
  return (
    <FactList
      facts={[
        ["Version", data.version],
        ["Runs for", elapsed(data.started, null, now)],
        ["Process", data.pid],
        ["Home directory", <code key="home">{data.home}</code>],
        ["Database", DATABASES[data.database] ?? data.database],
        ["Jobs", `${data.jobs.active} active, ${data.jobs.total.toLocaleString("en")} in all`],
        ["Backends", backends && `${backends.length}: ${backends.join(", ")}`],
      ]}
    />
  );
}
