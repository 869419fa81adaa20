import { EmptyPage } from "../components/EmptyPage";

export function NotFound() {
  return (
    <EmptyPage title="There is no such page">
      The pages are in the navigation. <a href="/dashboard/jobs">All jobs</a>
    </EmptyPage>
  );
}
