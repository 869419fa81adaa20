import { expect, it } from "vitest";
import { firstAddresses } from "./first";

it.each([
  ["/dashboard/", "", ["/api/v1/overview"]],
  ["/dashboard/create", "?name=a", []],
  ["/dashboard/jobs/a/b", "", []],
  ["/dashboard/jobs/a%20b", "", ["/api/v1/jobs/a%20b"]],
  ["/dashboard/jobs/%E0", "", []],
  [
    "/dashboard/jobs/abc",
    "?tab=logs&node=worker/0/1",
    [
      "/api/v1/jobs/abc",
      "/api/v1/jobs/abc/logs/files",
      "/api/v1/jobs/abc/logs/window?role=worker&job=0&rank=1&lines=500",
    ],
  ],
])("asks for what %s%s shows", (path, search, addresses) => {
  expect(firstAddresses(path, search)).toEqual(addresses);
});

it("asks for the rows that the filters of the address mean", () => {
  const [rows] = firstAddresses("/dashboard/jobs", "?phase=Failed&label=team%3Dnlp");
  const query = new URL(rows ?? "", "http://server").searchParams;
  expect(Object.fromEntries(query)).toMatchObject({
    phase: "Failed",
    label: "team=nlp",
    grouped: "true",
    offset: "0",
    limit: "100",
    fields: "summary",
  });
});
