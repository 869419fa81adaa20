/** What the pods of a job ask for, as its JobSet says. Pure. */

export interface RoleRequest {
  role: string;
  nodes: number;
  requests: Record<string, string>;
  limits: Record<string, string>;
}

type Plain = Record<string, unknown>;

export function roleRequests(jobSet: unknown): RoleRequest[] {
  return list(field(field(jobSet, "spec"), "replicatedJobs")).map((job) => {
    const spec = field(field(job, "template"), "spec");
    const pod = field(field(spec, "template"), "spec");
    const containers = list(field(pod, "containers"));
    return {
      role: String(field(job, "name") ?? ""),
      nodes: number(field(job, "replicas"), 1) * number(field(spec, "parallelism"), 1),
      requests: texts(containers, "requests"),
      limits: texts(containers, "limits"),
    };
  });
}

/** `cpu 2, memory 4Gi`; with several containers `cpu 2 + 0.5`. */
export function requestText(amounts: Record<string, string>): string {
  return Object.entries(amounts)
    .map(([name, amount]) => `${name} ${amount}`)
    .join(", ");
}

function texts(containers: unknown[], kind: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const container of containers) {
    for (const [name, amount] of Object.entries(
      (field(field(container, "resources"), kind) ?? {}) as Plain,
    )) {
      found[name] = found[name] ? `${found[name]} + ${String(amount)}` : String(amount);
    }
  }
  return found;
}

function field(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? (value as Plain)[name] : undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function number(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
