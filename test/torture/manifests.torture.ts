import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "./say.ts";

/**
 * Reads examples/pair/kubernetes.yaml with Kubernetes' own types, which come as a Go module, and the same file with
 * mistakes, which must be found.
 */
const manifests = readFileSync(new URL("../../examples/pair/kubernetes.yaml", import.meta.url), "utf8");
/** Its types are in no module that the Go proxy has. */
const unchecked = "postgresql.cnpg.io/v1 Cluster is not known here";

const mistakes: readonly (readonly [string, string])[] = [
  ["serviceName:", "serviceNames:"],
  ["containerPort: 17790", "containerPort: many"],
  ["publishNotReadyAddresses:", "publishNotReadyAdresses:"],
  ["failureThreshold: 2", "failureTreshold: 2"],
  ["secretKeyRef:", "secretRef:"],
];

const folder = mkdtempSync(join(tmpdir(), "rigbridge-manifests-"));
const program = join(folder, "schemas");

const found = (text: string): string[] => {
  const { status, stdout, stderr } = spawnSync(program, { input: text, encoding: "utf8", timeout: 60_000 });
  if (status !== 0) throw new Error(`The checker has ended with ${status}: ${stderr}`);
  return stdout.split("\n").filter((line) => line !== "" && line !== unchecked);
};

try {
  const cwd = new URL("manifests/schemas", import.meta.url).pathname;
  const built = spawnSync("go", ["build", "-o", program, "."], { cwd, encoding: "utf8", timeout: 600_000 });
  if (built.error !== undefined) say(`left out: go is missing (${built.error.message})`);
  else if (built.status !== 0) say(`left out: the checker cannot be built: ${built.stderr.trim()}`);
  else {
    const wrong = found(manifests);
    for (const [right, mistake] of mistakes) {
      if (!manifests.includes(right)) wrong.push(`the manifests no longer have ${right}`);
      else if (found(manifests.replace(right, mistake)).length === 0) wrong.push(`${mistake} is not found`);
    }
    for (const sentence of wrong) say(`BROKEN ${sentence}`);
    say(`${unchecked}; the others: ${wrong.length} mistakes, and ${mistakes.length} planted ones`);
    if (wrong.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
