/** The fields of the form, for each kind of job: what they are called and what they mean. */
import type { DraftForm } from "../../data/drafts";

export type Kind = DraftForm["kind"];
export type FieldName = Exclude<keyof DraftForm, "kind" | "backend">;
export type Entry = "line" | "number" | "lines" | "code" | "variables" | "runtime" | "queue" | "mpi";

export interface Field {
  name: FieldName;
  label: string;
  entry: Entry;
  help?: string;
  placeholder?: string;
  isRequired?: boolean;
}

export const KINDS: readonly { kind: Kind; title: string; meaning: string }[] = [
  { kind: "TrainJob", title: "TrainJob", meaning: "Training with a runtime: PyTorch, JAX, MPI and others." },
  { kind: "MPIJob", title: "MPIJob", meaning: "A launcher that runs mpirun on workers." },
  { kind: "Task", title: "Task", meaning: "A shell script on one or more nodes, as in SkyPilot." },
  { kind: "Script", title: "Script", meaning: "Python code that you paste here." },
];

const NAME: Field = { name: "name", label: "Name", entry: "line", isRequired: true };
const NAMESPACE: Field = {
  name: "namespace",
  label: "Namespace",
  entry: "line",
  help: "Empty: the one of the cluster’s context.",
};
const QUEUE: Field = {
  name: "queue",
  label: "LocalQueue",
  entry: "queue",
  help: "Kueue admits the whole job at once.",
};
const ENV: Field = {
  name: "env",
  label: "Variables",
  entry: "variables",
  help: "One NAME=VALUE on each line.",
};
const IMAGE: Field = { name: "image", label: "Image", entry: "line", placeholder: "registry/team/train:1" };
const CPU: Field = { name: "cpu", label: "CPUs", entry: "line", placeholder: "4" };
const MEMORY: Field = { name: "memory", label: "Memory", entry: "line", placeholder: "16Gi" };
const GPU: Field = { name: "gpu", label: "GPUs", entry: "line", placeholder: "1" };
const NODES: Field = { name: "nodes", label: "Nodes", entry: "number" };
const PROCESSES: Field = { name: "processes", label: "Processes per node", entry: "number" };
const COMMAND: Field = {
  name: "command",
  label: "Command",
  entry: "lines",
  help: "As in a shell: python train.py --lr 0.1",
  isRequired: true,
};

const FIELDS: Readonly<Record<Kind, readonly Field[]>> = {
  TrainJob: [
    NAME,
    NAMESPACE,
    { name: "runtime", label: "Runtime", entry: "runtime", isRequired: true },
    IMAGE,
    COMMAND,
    NODES,
    PROCESSES,
    CPU,
    MEMORY,
    GPU,
    QUEUE,
    ENV,
  ],
  MPIJob: [
    NAME,
    NAMESPACE,
    { ...IMAGE, isRequired: true },
    { ...COMMAND, help: "What each process runs. mpirun is put before it, unless it is there." },
    { ...NODES, label: "Workers" },
    { ...PROCESSES, label: "Slots per worker", help: "Empty: one for each GPU, or one." },
    { name: "mpi", label: "MPI", entry: "mpi" },
    CPU,
    MEMORY,
    GPU,
    QUEUE,
    ENV,
  ],
  Task: [
    NAME,
    { name: "setup", label: "Setup", entry: "lines", help: "Runs first, on every node: pip install …" },
    { ...COMMAND, label: "Run", entry: "code", help: "A shell script that runs on every node." },
    NODES,
    CPU,
    { ...MEMORY, placeholder: "16", help: "In GB; 16+ means at least 16." },
    { ...GPU, label: "Accelerators", placeholder: "A100:1" },
    IMAGE,
    ENV,
  ],
  Script: [
    NAME,
    NAMESPACE,
    { name: "code", label: "Python", entry: "code", isRequired: true },
    { name: "runtime", label: "Runtime", entry: "runtime", help: "None: plain Python on every node." },
    NODES,
    CPU,
    MEMORY,
    GPU,
    IMAGE,
    QUEUE,
    ENV,
  ],
};

/** The fields of a kind of job; those that only a cluster knows are left out elsewhere. */
export function fieldsOf(kind: Kind, backend: string): readonly Field[] {
  const isCluster = backend === "k8s" || backend.startsWith("k8s/");
  return FIELDS[kind].filter((field) => isCluster || !["namespace", "queue"].includes(field.name));
}

const EMPTY: DraftForm = {
  kind: "TrainJob",
  name: "",
  namespace: "",
  backend: "local",
  runtime: "",
  image: "",
  command: "",
  setup: "",
  code: "",
  nodes: null,
  processes: null,
  mpi: "",
  cpu: "",
  memory: "",
  gpu: "",
  queue: "",
  env: {},
};

/** A job that would run as it is, for somebody who sees the form for the first time. */
export function exampleOf(kind: Kind, backend: string, runtime = ""): DraftForm {
  const start = { ...EMPTY, kind, backend, name: "hello" };
  switch (kind) {
    case "TrainJob":
      return {
        ...start,
        runtime: runtime || "torch-distributed",
        nodes: 1,
        command: runtime ? "hostname" : 'echo "node $PET_NODE_RANK of $PET_NNODES"',
      };
    case "MPIJob":
      return { ...start, image: "mpioperator/mpi-pi:openmpi", command: "hostname", nodes: 2, mpi: "OpenMPI" };
    case "Task":
      return { ...start, command: 'echo "node $SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES"\n' };
    case "Script":
      return { ...start, code: 'import sys\n\nprint("Python", sys.version)\n' };
  }
}

/** The form with every field, whatever the server left out. */
export function completed(form: Partial<DraftForm> & { kind: Kind }): DraftForm {
  return { ...EMPTY, ...form };
}

/** Variables as lines. */
export function linesOf(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}

/** Lines as variables; a line without a name is none. */
export function variablesOf(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    const name = (at === -1 ? line : line.slice(0, at)).trim();
    if (name) found[name] = at === -1 ? "" : line.slice(at + 1);
  }
  return found;
}
