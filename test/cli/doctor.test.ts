import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { closeBenches } from "../service/bench.ts";
import { startRig } from "../simulated-rig.ts";
import { command, rigbridge } from "./command.ts";
import { servedBench } from "./served-bench.ts";

afterEach(closeBenches);

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "rigbridge-doctor-"));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

test("without a service, doctor names a taken port, a broker that does not answer and a refused login, and no secret", async () => {
  const data = await folder();
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => taken.close());
  await once(taken, "listening");
  const address = taken.address();
  const port = typeof address === "object" ? address?.port : null;
  const rig = await startRig({ kind: "xmrig", token: "right", restricted: false });
  const other = await startRig({ kind: "xmrig", token: "right", restricted: false });
  const third = await startRig({ kind: "xmrig", token: "right", restricted: false });
  const file = join(data, "rigbridge.yaml");
  const text = [
    `http: { port: ${port}, key: secret-of-the-service }`,
    `mqtt: { url: "mqtt://127.0.0.1:${await freePort()}", username: rigs, password: secret-of-the-broker }`,
    "logins: [{ name: shed, token: right }]",
    "defaults: [{ group: Yard, login: shed }]",
    "groups: [{ name: Yard, groups: [{ name: Row }] }]",
    "miners:",
    `  - { address: "${rig.address}", name: Attic, token: secret-of-the-rig }`,
    `  - { address: "${other.address}", name: Shed, login: shed }`,
    `  - { address: "${third.address}", name: Row 1, group: Row }`,
  ].join("\n");
  await writeFile(file, text, { mode: 0o600 });
  const { code, stdout, stderr } = await rigbridge(["doctor", "--data", data]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  const found = stdout.replace(/\s+/g, " ");
  expect(found).toContain("ok Configuration rigbridge.yaml has no mistakes ok Store there is none yet at");
  expect(found).toContain(`wrong Port Cannot listen on 127.0.0.1 port ${port}: another program listens there.`);
  expect(found).toContain("wrong Broker No broker answers at");
  expect(found).toContain(`wrong Login Attic: XMRig at ${rig.address} rejects this access token`);
  expect(found).not.toContain("Shed");
  expect(found).toContain("3 things to repair.");
  expect(stdout).not.toContain("secret-of");
});

test("a configuration with mistakes is named with its lines", async () => {
  const data = await folder();
  await writeFile(join(data, "rigbridge.yaml"), "http:\n  prt: 1\n");
  const { code, stdout } = await command(["doctor", "--data", data]);
  expect(code).toBe(1);
  expect(stdout.replace(/\s+/g, " ")).toContain("rigbridge.yaml:2: http.prt: is not a known key; did you mean");
});

test("with a running service, doctor asks it for its broker and its rigs", async () => {
  const rig = { kind: "xmrig", warm: true, token: "right", restricted: false } as const;
  const { bench, env } = await servedBench({ rigs: [rig, rig] });
  await bench.add(bench.rig(0).address, { name: "Attic", token: "right" });
  const doctor = () => command(["doctor", "--data", tmpdir()], { env });
  const right = await doctor();
  expect(right.stdout).toMatch(/^ok +Service +Rigbridge 1\.2\.3 answers at http:/m);
  expect(right.stdout).toMatch(/^ok +Logins +1 rig, none of which/m);
  await bench.add(bench.rig(1).address, { name: "Garage", token: "wrong" });
  for (let read = 1; read < 3; read += 1) await bench.poll(1_000_000_002);
  const wrong = await doctor();
  expect(wrong.stdout.replace(/\s+/g, " ")).toMatch(/wrong Login Garage: .*→ set its login/);
  expect(wrong.code).toBe(1);
});
