import { Breadcrumb, BreadcrumbItem } from "@patternfly/react-core/dist/dynamic/components/Breadcrumb";
import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import FileIcon from "@patternfly/react-icons/dist/esm/icons/file-icon";
import FolderIcon from "@patternfly/react-icons/dist/esm/icons/folder-icon";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { bytes } from "../../components/format";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { isOver } from "../../components/phases";
import { address } from "../../data/client";
import { outputQuery } from "../../data/jobQueries";
import type { JobProps } from "./jobProps";
import { Cell, Row, Table } from "./Table";

const COLUMNS = ["Name", "Size", "Changed"] as const;

export default function FilesTab({ job }: JobProps) {
  const { id } = job.metadata;
  const [folders, setFolders] = useState<string[]>([]);
  const path = folders.join("/");
  const { data, error, refetch } = useQuery(outputQuery(id, path, !isOver(job.status.phase)));
  const inside = (name: string) => [...folders, name].join("/");
  return (
    <>
      <Breadcrumb aria-label="Folder">
        {["output", ...folders].map((name, depth) => (
          <BreadcrumbItem key={`${depth}:${name}`} isActive={depth === folders.length}>
            {depth === folders.length ? (
              name
            ) : (
              <Button variant="link" isInline onClick={() => setFolders(folders.slice(0, depth))}>
                {name}
              </Button>
            )}
          </BreadcrumbItem>
        ))}
      </Breadcrumb>
      {error && (
        <ErrorAlert error={error} title="The files could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the files" />}
      {data?.items.length === 0 && (
        <EmptyPage title={folders.length > 0 ? "This folder is empty" : "The job has left no files"}>
          What a job writes to the directory in <code>TRAINWAY_OUTPUT_DIR</code> can be looked at and saved
          here.
        </EmptyPage>
      )}
      {data && data.items.length > 0 && (
        <Table label="Files of the output directory" columns={COLUMNS}>
          {data.items.map((item) => (
            <Row key={item.name}>
              <Cell label="Name">
                {item.kind === "folder" && (
                  <Button
                    variant="link"
                    isInline
                    icon={<FolderIcon />}
                    onClick={() => setFolders([...folders, item.name])}
                  >
                    {item.name}
                  </Button>
                )}
                {item.kind === "file" && (
                  <a
                    className="tw-link"
                    download
                    href={address("/api/v1/jobs/{ref}/output/file", { ref: id }, { path: inside(item.name) })}
                  >
                    <FileIcon /> {item.name}
                  </a>
                )}
                {item.kind === "other" && (
                  <span className="tw-subtle">
                    {item.name} (a link, not a file, or a name that is not UTF-8)
                  </span>
                )}
              </Cell>
              <Cell label="Size">{item.kind === "file" ? bytes(item.size) : "–"}</Cell>
              <Cell label="Changed">
                <Moment time={item.modified} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {data && !data.complete && <p className="tw-subtle">There are more files than are shown here.</p>}
      {job.status.outputDir && (
        <p className="tw-subtle tw-break">
          On the machine of the server: <code>{job.status.outputDir}</code>
        </p>
      )}
    </>
  );
}
