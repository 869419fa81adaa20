/** What there is to say of a training runtime. Whatever a cluster has in it is shown as text. Pure. */

const FRAMEWORK = "trainer.kubeflow.org/framework";

export interface RuntimeFacts {
  name: string;
  /** ClusterTrainingRuntime or TrainingRuntime. */
  kind: string;
  framework: string;
  /** How processes find each other: `torch`, `mpi`; empty: they do not. */
  policy: string;
  nodes: string;
  images: readonly string[];
}

type Part = Readonly<Record<string, unknown>>;

export function factsOf(runtime: unknown): RuntimeFacts {
  const { kind, metadata, spec } = part(runtime);
  const { name, labels } = part(metadata);
  const { mlPolicy, template } = part(spec);
  const policy = part(mlPolicy);
  return {
    name: text(name),
    kind: text(kind),
    framework: text(part(labels)[FRAMEWORK]),
    policy: Object.keys(policy)
      .filter((key) => key !== "numNodes")
      .join(", "),
    nodes: text(policy["numNodes"]),
    images: [...new Set(images(part(part(template)["spec"])))],
  };
}

function images(jobSet: Part): string[] {
  return list(jobSet["replicatedJobs"]).flatMap((job) => {
    const pod = part(part(part(part(part(job)["template"])["spec"])["template"])["spec"]);
    return [...list(pod["initContainers"]), ...list(pod["containers"])]
      .map((container) => text(part(container)["image"]))
      .filter((image) => image !== "");
  });
}

function part(value: unknown): Part {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Part) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
