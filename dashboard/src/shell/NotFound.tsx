import { PageFrame } from "../components/PageFrame";

export function NotFound() {
  return (
    <PageFrame title="There is no such page">
      The pages are in the navigation. <a href="/dashboard/jobs">All jobs</a>
    </PageFrame>
  );
}
