import { useQuery } from "@tanstack/react-query";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { count, figure, money } from "../../components/format";
import { Loading } from "../../components/Loading";
import { pricesQuery } from "../../data/costs";

interface Props {
  accelerator: string;
  /** How many a machine has; 0: any number. */
  number: number;
  cloud: string;
  everywhere: boolean;
}

/** The machines that have an accelerator, cheapest first. */
export function OfferTable({ accelerator, number, cloud, everywhere }: Props) {
  const { data, error, refetch } = useQuery(pricesQuery(accelerator, number, cloud, everywhere));
  if (error) {
    return <ErrorAlert error={error} title="The prices could not be read" onRetry={() => void refetch()} />;
  }
  if (!data) return <Loading what="the offers" />;
  if (data.items.length === 0) {
    return <EmptyPage title="Nobody offers that">Choose another number, or any cloud.</EmptyPage>;
  }
  return (
    <>
      <DataTable
        label={`Offers of ${accelerator}`}
        columns={["Cloud", "Machine", "GPUs", "CPUs", "Memory (GiB)", "An hour", "As spot", "Region"]}
        numbers={[2, 3, 4, 5, 6]}
        rows={data.items.map((offer) => [
          `${offer.cloud} ${offer.instanceType} ${offer.region} ${offer.zone ?? ""} ${offer.count}`,
          offer.cloud,
          offer.instanceType,
          figure(offer.count),
          offer.vcpus ? figure(offer.vcpus) : "–",
          offer.memoryGib ? figure(offer.memoryGib) : "–",
          money(offer.price),
          money(offer.spotPrice),
          offer.zone ?? offer.region,
        ])}
      />
      {data.total > data.items.length && (
        <p className="tw-subtle">
          {count(data.total, "offer")} in all; the cheapest {data.items.length} are shown.
        </p>
      )}
    </>
  );
}
