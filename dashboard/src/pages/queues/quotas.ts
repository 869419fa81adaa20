/** Quotas of queues as bars with words beside them. Pure. */
import { amount, amountText } from "../../components/amounts";
import type { QueueQuota } from "../../data/infra";

export interface QuotaBar {
  key: string;
  /** `nvidia.com/gpu of a100`. */
  name: string;
  used: number;
  nominal: number;
  /** `9 of 8 used, 1 of it borrowed`. */
  label: string;
}

export function quotaBar(quota: QueueQuota): QuotaBar {
  const borrowed = amount(quota.borrowed);
  const used = `${amountText(quota.resource, quota.used)} of ${amountText(quota.resource, quota.nominal)} used`;
  const lent = borrowed > 0 ? `, ${amountText(quota.resource, quota.borrowed)} of it borrowed` : "";
  return {
    key: `${quota.flavor} ${quota.resource}`,
    name: quota.flavor ? `${quota.resource} of ${quota.flavor}` : quota.resource,
    used: amount(quota.used) || 0,
    nominal: amount(quota.nominal) || 0,
    label: used + lent,
  };
}
