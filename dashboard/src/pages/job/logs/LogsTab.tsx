import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { EmptyPage } from "../../../components/EmptyPage";
import { ErrorAlert } from "../../../components/ErrorAlert";
import { Loading } from "../../../components/Loading";
import { isOver } from "../../../components/phases";
import { address } from "../../../data/client";
import { logFilesQuery } from "../../../data/jobQueries";
import { value } from "../../../data/search";
import type { JobProps } from "../jobProps";
import { isWriting, stillness } from "./following";
import { LogMatches } from "./LogMatches";
import { LogPlace } from "./LogPlace";
import { LogToolbar, type LogLook } from "./LogToolbar";
import { LogView } from "./LogView";
import { choiceQuery, sizeOf, type LogChoice } from "./pages";
import { useLogPages, type Place } from "./useLogPages";
import { useLogSearch } from "./useLogSearch";

export default function LogsTab({ job }: JobProps) {
  const { id } = job.metadata;
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const choice: LogChoice = { node: value(search, "node"), attempt: value(search, "attempt") };
  const isLive = !isOver(job.status.phase);
  const [look, setLook] = useState<LogLook>({ isFollowing: isLive, isWrapped: false, withTime: true });
  const [share, setShare] = useState(1);
  const { data: files } = useQuery(logFilesQuery(id, isLive));
  const isWritten = isWriting(job.status.phase);
  const log = useLogPages(id, choice, { isFollowing: look.isFollowing, isWritten });
  const found = useLogSearch(id, choice);

  const leave = () => look.isFollowing && setLook({ ...look, isFollowing: false });
  const go = (place: Place) => {
    leave();
    log.go(place);
  };
  const choose = ({ node, attempt }: LogChoice) => {
    found.clear();
    void navigate({
      to: "/jobs/$job",
      params: { job: id },
      search: { tab: "logs", node, attempt },
      replace: true,
    });
  };
  const isEmpty = !log.isLoading && log.pages.every((page) => page.lines.length === 0);
  return (
    <div className="tw-logs">
      <LogToolbar
        files={files?.items ?? []}
        choice={choice}
        look={look}
        stillness={stillness(job.status.phase)}
        downloadAddress={address("/api/v1/jobs/{ref}/logs/download", { ref: id }, choiceQuery(choice))}
        onChoice={choose}
        onLook={(change) => setLook({ ...look, ...change })}
        onSearch={(text) => void found.search(text)}
      />
      <LogPlace share={share} size={sizeOf(log.pages)} onGo={go} />
      {log.error !== null && (
        <ErrorAlert error={log.error} title="The log could not be read" onRetry={() => log.go({})} />
      )}
      <LogMatches
        found={found}
        chosen={log.jump.around}
        onChoose={(around) => go({ around })}
        onClose={found.clear}
      />
      {log.isLoading && log.pages.length === 0 && <Loading what="the log" />}
      {isEmpty && log.error === null && (
        <EmptyPage title="Nothing was written">
          {isLive
            ? "What the job prints is shown here as it comes."
            : "The job printed nothing in this attempt."}
        </EmptyPage>
      )}
      {!isEmpty && (
        <LogView
          log={log}
          wanted={found.text}
          isWrapped={look.isWrapped}
          isFollowing={look.isFollowing}
          withTime={look.withTime}
          withNode={choice.node === ""}
          onLeave={leave}
          onShare={setShare}
        />
      )}
    </div>
  );
}
