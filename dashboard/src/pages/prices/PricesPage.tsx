import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Checkbox } from "@patternfly/react-core/dist/dynamic/components/Checkbox";
import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { figure } from "../../components/format";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { useTyped } from "../../components/useTyped";
import { acceleratorsQuery } from "../../data/costs";
import { value, type Search } from "../../data/search";
import { OfferTable } from "./OfferTable";
import { countOf, matching } from "./prices";

/** Which accelerators clouds offer, and for how much. */
export default function PricesPage() {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(acceleratorsQuery);
  const choose = (change: Search) =>
    void navigate({ to: "/prices", search: { ...search, ...change }, replace: true });
  const text = useTyped(value(search, "text"), (typed) => choose({ text: typed }));
  const cloud = useTyped(value(search, "cloud"), (typed) => choose({ cloud: typed }));
  const gpu = value(search, "gpu");
  const counts = data?.find((each) => each.name === gpu)?.counts ?? [];
  const number = value(search, "count");
  const everywhere = value(search, "everywhere") === "yes";
  const found = matching(data ?? [], value(search, "text"));
  return (
    <PageFrame title={gpu ? `Prices of ${gpu}` : "Prices"}>
      {error && (
        <ErrorAlert error={error} title="The catalog could not be read" onRetry={() => void refetch()} />
      )}
      {gpu ? (
        <>
          <div className="tw-controls">
            <Button variant="secondary" onClick={() => choose({ gpu: "", count: "" })}>
              All GPUs
            </Button>
            <FormSelect
              aria-label="GPUs of a machine"
              value={number}
              onChange={(_, chosen) => choose({ count: chosen })}
            >
              <FormSelectOption value="" label="Any number" />
              {counts.map((each) => (
                <FormSelectOption key={each} value={String(each)} label={figure(each)} />
              ))}
            </FormSelect>
            <TextInput
              aria-label="Cloud"
              placeholder="any cloud"
              value={cloud.value}
              onChange={(_, typed) => cloud.onChange(typed)}
              onBlur={cloud.onBlur}
            />
            <Checkbox
              id="everywhere"
              label="Every region"
              isChecked={everywhere}
              onChange={(_, is) => choose({ everywhere: is ? "yes" : "" })}
            />
          </div>
          <OfferTable
            accelerator={gpu}
            number={countOf(number)}
            cloud={value(search, "cloud")}
            everywhere={everywhere}
          />
        </>
      ) : (
        <>
          <div className="tw-controls" data-search>
            <TextInput
              aria-label="Name of the GPU"
              placeholder="Name, such as H100"
              value={text.value}
              onChange={(_, typed) => text.onChange(typed)}
              onBlur={text.onBlur}
            />
          </div>
          {!data && !error && <Loading what="the catalog" />}
          {data && found.length === 0 && (
            <EmptyPage title="No GPU is called so">Clear the name to see all of them.</EmptyPage>
          )}
          {found.length > 0 && (
            <DataTable
              label="GPUs"
              columns={["GPU", "GPUs per machine"]}
              rows={found.map((each) => [
                each.name,
                <Button key="gpu" variant="link" isInline onClick={() => choose({ gpu: each.name })}>
                  {each.name}
                </Button>,
                each.counts.map(figure).join(", "),
              ])}
            />
          )}
        </>
      )}
      <p className="tw-subtle">
        Prices are those of the catalog, in dollars; <code>trainway catalog refresh</code> fetches newer ones.
      </p>
    </PageFrame>
  );
}
