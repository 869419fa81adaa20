import { Card, CardBody, CardTitle } from "@patternfly/react-core/dist/dynamic/components/Card";
import type { ReactNode } from "react";
import { PageFrame } from "../../components/PageFrame";
import { Notifications } from "./Notifications";
import { ServerFacts } from "./ServerFacts";
import { Sessions } from "./Sessions";
import { ThemeChoice } from "./ThemeChoice";
import { TokenReplacement } from "./TokenReplacement";

/** How the page looks, who is told of jobs, who is logged in, and what the server is. */
export default function SettingsPage() {
  return (
    <PageFrame title="Settings">
      <div className="tw-list">
        <Part title="Theme">
          <ThemeChoice />
        </Part>
        <Part title="Notifications">
          <Notifications />
        </Part>
        <Part title="Sessions">
          <Sessions />
        </Part>
        <Part title="Token of the server">
          <TokenReplacement />
        </Part>
        <Part title="Server">
          <ServerFacts />
        </Part>
      </div>
    </PageFrame>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card isCompact component="section" aria-label={title}>
      <CardTitle component="h2">{title}</CardTitle>
      <CardBody>{children}</CardBody>
    </Card>
  );
}
