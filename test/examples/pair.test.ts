import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { readConfig } from "../../src/config/index.ts";
import { healthPath } from "../../src/http/paths.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { type Running, running } from "../cli/command.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { hasProgram } from "../has-program.ts";
import { hasPostgres, startPostgres } from "../store/postgres.ts";
import { until, within } from "../until.ts";

// depends on: examples/pair/**, examples/systemd/rigbridge.service, packaging/docker/*, src/**

const folder = fileURLToPath(new URL("../../examples/pair/", import.meta.url));
const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");
const secrets = { STORE_PASSWORD: "invented", RIGBRIDGE_KEY: "an-invented-key-of-some-length" };
const activePath = `${healthPath}/active`;

const newFolder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "rigbridge-pair-example-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
};

describe("the pair in containers", () => {
  const Compose = z.object({
    services: z.record(z.string(), z.looseObject({ volumes: z.array(z.string()), command: z.string().optional() })),
    networks: z.object({
      default: z.object({ ipam: z.object({ config: z.array(z.object({ subnet: z.string() })) }) }),
    }),
    volumes: z.record(z.string(), z.null()),
  });
  const { services, networks, volumes } = Compose.parse(parse(textOf("compose.yaml"), { merge: true }));

  test("mounts files that are there, and volumes that it names", () => {
    const mounted = Object.values(services).flatMap((each) => each.volumes.map((volume) => volume.split(":")[0] ?? ""));
    const files = mounted.filter((source) => source.startsWith("./"));
    expect(new Set(files)).toEqual(new Set(["./rigbridge.yaml", "./haproxy.cfg"]));
    for (const file of files) expect(textOf(file)).not.toBe("");
    expect(new Set(mounted.filter((source) => !source.startsWith("./")))).toEqual(new Set(Object.keys(volumes)));
  });

  test("has a configuration that fits its names, its networks and its load balancer", async () => {
    const { config } = await readConfig(join(folder, "rigbridge.yaml"), secrets);
    const { hostname, pathname } = new URL(config.store.url);
    expect(Object.keys(services)).toContain(hostname);
    expect(services[hostname]).toMatchObject({
      environment: { POSTGRES_DB: pathname.slice(1), POSTGRES_USER: "rigbridge" },
    });
    expect(config.http.trustedProxies).toEqual(networks.default.ipam.config.map(({ subnet }) => subnet));
    const servers = [...textOf("haproxy.cfg").matchAll(/^ +server \S+ (\S+):(\d+)$/gm)];
    expect(servers.map(([, host, port]) => [host, Number(port)])).toEqual([
      ["one", config.http.port],
      ["other", config.http.port],
    ]);
    for (const [, host = ""] of servers)
      expect(services[host]?.command).toBe("serve --config /etc/rigbridge/rigbridge.yaml --data /data");
  });
});

/** What kubectl checks without a cluster, of the parts that are used here: names that lead to each other. */
describe("the pair in Kubernetes", () => {
  const Meta = z.object({ name: z.string() });
  const Labels = z.record(z.string(), z.string());
  const Ports = z.array(z.strictObject({ name: z.string(), port: z.int(), targetPort: z.string() }));
  const Reference = z.strictObject({
    name: z.string(),
    valueFrom: z.strictObject({ secretKeyRef: z.strictObject({ name: z.string(), key: z.string() }) }),
  });
  const Probe = z.object({ httpGet: z.strictObject({ path: z.string(), port: z.string() }), periodSeconds: z.int() });
  const Cluster = z.strictObject({
    apiVersion: z.literal("postgresql.cnpg.io/v1"),
    kind: z.literal("Cluster"),
    metadata: Meta,
    spec: z.looseObject({
      instances: z.int().min(3),
      storage: z.strictObject({ size: z.string() }),
      bootstrap: z.strictObject({ initdb: z.strictObject({ database: z.string(), owner: z.string() }) }),
    }),
  });
  const ConfigMap = z.strictObject({
    apiVersion: z.literal("v1"),
    kind: z.literal("ConfigMap"),
    metadata: Meta,
    data: z.record(z.string(), z.string()),
  });
  const Service = z.strictObject({
    apiVersion: z.literal("v1"),
    kind: z.literal("Service"),
    metadata: Meta,
    spec: z.looseObject({ selector: Labels, ports: Ports }),
  });
  const Container = z.looseObject({
    args: z.array(z.string()),
    env: z.array(Reference),
    ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })),
    readinessProbe: Probe,
    livenessProbe: Probe,
    volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
  });
  const StatefulSet = z.strictObject({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("StatefulSet"),
    metadata: Meta,
    spec: z.strictObject({
      replicas: z.literal(2),
      serviceName: z.string(),
      podManagementPolicy: z.literal("Parallel"),
      updateStrategy: z.strictObject({ type: z.literal("OnDelete") }),
      selector: z.strictObject({ matchLabels: Labels }),
      template: z.strictObject({
        metadata: z.strictObject({ labels: Labels }),
        spec: z.looseObject({
          containers: z.tuple([Container]),
          volumes: z.array(
            z.looseObject({
              name: z.string(),
              configMap: Meta.optional(),
              secret: z.looseObject({ secretName: z.string() }).optional(),
            }),
          ),
        }),
      }),
      volumeClaimTemplates: z.array(z.looseObject({ metadata: Meta })),
    }),
  });
  const Manifests = z.tuple([Cluster, ConfigMap, Service, Service, StatefulSet]);
  const manifests = parseAllDocuments(textOf("kubernetes.yaml")).map((document) => document.toJS());
  const [cluster, map, front, pods, set] = Manifests.parse(manifests);
  const { template, selector, serviceName, volumeClaimTemplates } = set.spec;
  const [container] = template.spec.containers;

  test("has services that lead to its pods, and probes of paths that are there", () => {
    expect(serviceName).toBe(pods.metadata.name);
    for (const labels of [selector.matchLabels, front.spec.selector, pods.spec.selector])
      expect(template.metadata.labels).toEqual(labels);
    for (const { targetPort } of [...front.spec.ports, ...pods.spec.ports])
      expect(container.ports.map(({ name }) => name)).toContain(targetPort);
    expect(container.readinessProbe.httpGet).toEqual({ path: activePath, port: "http" });
    expect(container.livenessProbe.httpGet).toEqual({ path: healthPath, port: "http" });
  });

  test("mounts what it names, each once", () => {
    const { volumes } = template.spec;
    const named = [...volumes, ...volumeClaimTemplates.map(({ metadata }) => metadata)].map(({ name }) => name);
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(named.sort());
    expect(volumes.flatMap(({ configMap }) => configMap?.name ?? [])).toEqual([map.metadata.name]);
    expect(volumes.flatMap(({ secret }) => secret?.secretName ?? [])).toEqual([`${cluster.metadata.name}-ca`]);
    const mountOf = (name: string) => container.volumeMounts.find((mount) => mount.name === name)?.mountPath;
    expect(container.args).toEqual([
      "serve",
      "--config",
      `${mountOf("config")}/rigbridge.yaml`,
      "--data",
      mountOf("data"),
    ]);
  });

  test("has a configuration that the program accepts, for its database and with its secrets", async () => {
    const file = join(newFolder(), "rigbridge.yaml");
    writeFileSync(file, map.data["rigbridge.yaml"] ?? "", { mode: 0o600 });
    const env = Object.fromEntries(container.env.map(({ name }) => [name, "an-invented-secret"]));
    const { config, warnings } = await readConfig(file, env);
    expect(warnings).toEqual([]);
    const url = new URL(config.store.url);
    expect(url.hostname).toBe(`${cluster.metadata.name}-rw`);
    expect([url.pathname, url.username]).toEqual([
      `/${cluster.spec.bootstrap.initdb.database}`,
      cluster.spec.bootstrap.initdb.owner,
    ]);
    expect(url.searchParams.get("sslmode")).toBe("verify-full");
    const authority = container.volumeMounts.find(({ name }) => name === "authority")?.mountPath;
    expect(url.searchParams.get("sslrootcert")).toBe(`${authority}/ca.crt`);
    expect(config.http.port).toBe(container.ports[0]?.containerPort);
    const [password] = container.env;
    expect(password?.valueFrom.secretKeyRef).toEqual({ name: `${cluster.metadata.name}-app`, key: "password" });
  });
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!hasSystemd) process.stderr.write("systemd is missing: its look at the unit of a pair is left out\n");

(hasSystemd ? test : test.skip)("the addition to the unit is one that systemd understands", () => {
  const units = newFolder();
  const unit = join(units, "rigbridge.service");
  cpSync(join(folder, "..", "systemd", "rigbridge.service"), unit);
  mkdirSync(`${unit}.d`);
  cpSync(join(folder, "systemd", "pair.conf"), join(`${unit}.d`, "pair.conf"));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: "" });
});

/** Debian has it outside the PATH of users. */
const haproxy = ["haproxy", "/usr/sbin/haproxy"].find((name) => spawnSync(name, ["-v"]).status === 0);
const isComplete =
  hasProgram("haproxy", haproxy !== undefined, "the load balancer of a pair") &&
  hasPostgres("the load balancer of a pair in front of a real PostgreSQL");

(isComplete ? test : test.skip)(
  "the load balancer leads to the active service, and to the other one after a kill",
  async () => {
    const place = newFolder();
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
    onTestFinished(() => farm.close());
    const database = await server.database();
    const [front, ...ports] = [await freePort(), await freePort(), await freePort()];
    const start = async (port: number | undefined, says: RegExp): Promise<Running> => {
      const config = join(place, `${port}.yaml`);
      const miners = [{ address: farm.rigs[0]?.address, name: "Desk" }];
      const store = { url: server.url(database), site: "barn" };
      writeFileSync(config, JSON.stringify({ http: { port, trustedProxies: ["127.0.0.1"] }, store, miners }), {
        mode: 0o600,
      });
      const data = join(place, String(port));
      mkdirSync(data);
      const service = await running(["serve", "--config", config, "--data", data], says, { cwd: place });
      onTestFinished(() => service.signal("SIGKILL"));
      return service;
    };
    const one = await start(ports[0], /is ready at http/);
    const other = await start(ports[1], /this one waits to take its place/);

    const file = join(place, "haproxy.cfg");
    const [first, second] = ports;
    writeFileSync(
      file,
      textOf("haproxy.cfg")
        .replace("bind :17790", `bind 127.0.0.1:${front}`)
        .replace("one:17790", `127.0.0.1:${first}`)
        .replace("other:17790", `127.0.0.1:${second}`),
    );
    const balancer = spawn(haproxy ?? "haproxy", ["-f", file, "-db"], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [balancer.stdout, balancer.stderr])
      stream.on("data", (text) => {
        said += text;
      });
    const ended = once(balancer, "exit");
    onTestFinished(async () => {
      balancer.kill("SIGKILL");
      await within(ended, "HAProxy to end");
    });
    const url = `http://127.0.0.1:${front}`;
    const ask = async (path: string) => {
      const response = await fetch(`${url}${path}`).catch(() => null);
      return { status: response?.status ?? 0, text: (await response?.text()) ?? "" };
    };
    const epoch = async (): Promise<unknown> => {
      const { status, text } = await ask(activePath);
      return status === 200 ? z.object({ epoch: z.number() }).parse(JSON.parse(text)).epoch : null;
    };
    // A machine that stands still fails the checks, and what is under way then.
    const serves = async (): Promise<void> => {
      for (const path of ["/", "/api/miners", "/api/session"])
        await until(async () => (await ask(path)).status === 200, `${path} by way of HAProxy`, { details: () => said });
    };
    await until(async () => (await epoch()) === 1, "HAProxy to lead to the active service", { details: () => said });
    await serves();
    const events = await fetch(`${url}/api/events`);
    one.signal("SIGKILL");
    await one.ended;
    await within(
      events.text().catch(() => ""),
      "the stream of events to end",
    );
    await until(async () => (await epoch()) === 2, "HAProxy to lead to the other service", {
      details: () => said + other.said(),
    });
    await serves();
  },
);
