import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { freePort } from "../../free-port.ts";
import { until, within } from "../../until.ts";
import type { Installed } from "./installed.ts";

/** A running Home Assistant: on loopback only, with MQTT as the only integration that connects anywhere. */
export interface HomeAssistant {
  readonly url: string;
  /** Its configuration folder, as seen from here. */
  readonly folder: string;
  /** An access token of its user. */
  readonly token: string;
  /** What it logged at level warning or above, oldest first. */
  readonly log: readonly LogEntry[];
  /** Every change of a state, oldest first. */
  readonly changes: readonly Change[];
  states(): Promise<Map<string, State>>;
  /** Entities with the discovery's `unique_id`, by that. */
  registry(): Promise<Map<string, Registered>>;
  /** A command of its WebSocket API: its result. Rejects with the refusal. */
  ask(type: string, more?: Record<string, unknown>): Promise<unknown>;
  /** Calls an action such as `switch.turn_off`, as a user does: the HTTP status and what it says. */
  call(action: string, data: Record<string, unknown>): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
}

export interface LogEntry {
  readonly level: string;
  readonly logger: string;
  /** With all its lines, such as those of a traceback. */
  readonly text: string;
}

const State = z.object({ entity_id: z.string(), state: z.string(), attributes: z.record(z.string(), z.unknown()) });
export type State = z.infer<typeof State>;

const Registered = z.object({
  entity_id: z.string(),
  unique_id: z.string(),
  platform: z.string(),
  disabled_by: z.string().nullable(),
});
export type Registered = z.infer<typeof Registered>;

export interface Change {
  /** Epoch ms at which it arrived here. */
  readonly at: number;
  readonly entity: string;
  /** null: it was or is not there. */
  readonly from: string | null;
  readonly to: string | null;
}

export interface InstanceOptions {
  /** Of a broker; absent: without MQTT. */
  readonly mqttPort?: number;
  /** YAML after the base configuration. */
  readonly more?: string;
  /** More files of its configuration folder, by path. */
  readonly files?: Readonly<Record<string, string>>;
}

const startupMs = 180_000;

/** The folder of a configuration inside the chroot, and the same as seen from here. */
export function configuration(installed: Installed, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(installed.root, "proofs", "config-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { inside: folder.slice(installed.root.length), folder };
}

/** configuration.yaml of an instance with nothing that looks around in the network. */
export const baseConfiguration = (port: number): Record<string, unknown> => ({
  homeassistant: { name: "Proof", unit_system: "metric", currency: "EUR", time_zone: "UTC", country: "SE" },
  http: { server_host: "127.0.0.1", server_port: port },
  api: null,
  config: null,
  websocket_api: null,
  logger: { default: "warning" },
});

/** Its automations stand in automations.yaml. */
const withAutomations = (text: string): string => `${text}automation: !include automations.yaml\n`;

/** Starts one, creates its user, and waits until it runs and is connected to the broker. */
export async function startHomeAssistant(installed: Installed, options: InstanceOptions): Promise<HomeAssistant> {
  const port = await freePort();
  const { mqttPort, more = "", files } = options;
  const { inside, folder } = configuration(installed, {
    "configuration.yaml": withAutomations(stringify(baseConfiguration(port))) + more,
    "automations.yaml": "[]\n",
    ...(mqttPort === undefined ? {} : { ".storage/core.config_entries": JSON.stringify(configEntries(mqttPort)) }),
    ...files,
  });
  const child = installed.start("hass", ["--config", inside, "--skip-pip", "--log-no-color"]);
  const log: LogEntry[] = [];
  const output: string[] = [];
  const read = reader(log);
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output.push(text);
      read(text);
    });
  const hasEnded = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const details = () => output.join("");
  const close = async (): Promise<void> => {
    child.kill("SIGKILL");
    await within(hasEnded, "Home Assistant to end");
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await until(
      async () => {
        if (!isRunning()) throw new Error(`Home Assistant has ended:\n${details()}`);
        return (await fetch(`${url}/api/onboarding`).catch(() => null))?.ok === true;
      },
      "Home Assistant to answer",
      { timeoutMs: startupMs, details },
    );
    const token = await createUser(url);
    const socket = await openSocket(url, token);
    const changes = await recorded(socket);
    const states = async () => {
      const all = z.array(State).parse(await socket.ask("get_states"));
      return new Map(all.map((state) => [state.entity_id, state]));
    };
    const configured = async () =>
      z.object({ state: z.string() }).parse(await socket.ask("get_config")).state === "RUNNING";
    await until(configured, "Home Assistant to run", { timeoutMs: startupMs, details });
    await keepHttp(socket);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return {
      url,
      folder,
      token,
      log,
      changes,
      states,
      ask: socket.ask,
      registry: async () => {
        const all = z.array(Registered).parse(await socket.ask("config/entity_registry/list"));
        return new Map(all.filter(({ platform }) => platform === "mqtt").map((each) => [each.unique_id, each]));
      },
      call: async (action, data) => {
        const body = JSON.stringify(data);
        const path = `/api/services/${action.replace(".", "/")}`;
        const answer = await fetch(url + path, { method: "POST", headers, body, signal: AbortSignal.timeout(30_000) });
        return { status: answer.status, text: (await answer.text()).slice(0, 500) };
      },
      close: async () => {
        socket.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** As the user interface stores the integration; Home Assistant completes what is missing. */
const configEntries = (port: number) => ({
  version: 1,
  minor_version: 1,
  key: "core.config_entries",
  data: {
    entries: [
      {
        entry_id: "d5f1b1f3a3d54d1a9b5a4a8bb1c0ffee",
        version: 1,
        domain: "mqtt",
        title: "127.0.0.1",
        data: { broker: "127.0.0.1", port },
        options: {},
        pref_disable_new_entities: false,
        pref_disable_polling: false,
        source: "user",
        unique_id: null,
        disabled_by: null,
      },
    ],
  },
});

/** `2026-11-22 11:50:01.123+00:00 WARNING (MainThread) [homeassistant.components.mqtt.sensor] text` */
const entryStart = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\S* (\w+) \([^)]*\) \[([\w.-]+)\] (.*)$/;

/** Reads its log into entries. */
function reader(log: LogEntry[]): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, level, logger, said] = entryStart.exec(line) ?? [];
      const last = log.at(-1);
      if (level !== undefined && logger !== undefined) log.push({ level, logger, text: said ?? "" });
      else if (last !== undefined) log.splice(-1, 1, { ...last, text: `${last.text}\n${line}` });
      else log.push({ level: "OUTPUT", logger: "", text: line });
    }
  };
}

/** The first user, as its first page creates one; an access token that lasts longer than any proof. */
async function createUser(url: string): Promise<string> {
  const client = `${url}/`;
  const post = async (path: string, body: string, type: string): Promise<unknown> => {
    const answer = await fetch(url + path, { method: "POST", headers: { "content-type": type }, body });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const user = { client_id: client, name: "Proof", username: "proof", password: "proof", language: "en" };
  const { auth_code: code } = z
    .object({ auth_code: z.string() })
    .parse(await post("/api/onboarding/users", JSON.stringify(user), "application/json"));
  const form = new URLSearchParams({ grant_type: "authorization_code", code, client_id: client });
  const { access_token: short } = z
    .object({ access_token: z.string() })
    .parse(await post("/auth/token", form.toString(), "application/x-www-form-urlencoded"));
  const socket = await openSocket(url, short);
  const token = await socket.ask("auth/long_lived_access_token", { client_name: "proof", lifespan: 1 });
  socket.close();
  return z.string().parse(token);
}

const HttpSettings = z.looseObject({ pending: z.unknown().optional() });

/** Home Assistant takes new settings of its HTTP server back after five minutes, and restarts, unless they are confirmed. */
async function keepHttp(socket: Socket): Promise<void> {
  const { pending } = HttpSettings.parse(await socket.ask("http/config"));
  if (pending !== null && pending !== undefined) await socket.ask("http/config/promote");
}

interface Socket {
  ask(type: string, more?: Record<string, unknown>): Promise<unknown>;
  /** Resolves once subscribed. */
  subscribe(event: string, heard: (data: unknown) => void): Promise<void>;
  close(): void;
}

const Message = z.looseObject({
  id: z.number().optional(),
  type: z.string(),
  success: z.boolean().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  event: z.looseObject({ data: z.unknown().optional() }).optional(),
});
type Message = z.infer<typeof Message>;

async function openSocket(url: string, token: string): Promise<Socket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/websocket`);
  const waiting = new Map<number, (message: Message) => void>();
  const listeners = new Map<number, (data: unknown) => void>();
  const isIn = Promise.withResolvers<void>();
  socket.addEventListener("message", ({ data }) => {
    const message = Message.parse(JSON.parse(String(data)));
    const { id = 0, type } = message;
    if (type === "auth_required") socket.send(JSON.stringify({ type: "auth", access_token: token }));
    if (type === "auth_ok") isIn.resolve();
    if (type === "auth_invalid") isIn.reject(new Error("Home Assistant refused the token"));
    if (type === "event") listeners.get(id)?.(message.event?.data);
    if (type !== "result") return;
    waiting.get(id)?.(message);
    waiting.delete(id);
  });
  await within(once(socket, "open"), "the WebSocket to open");
  await within(isIn.promise, "the WebSocket to accept the token");
  let last = 0;
  const ask = async (type: string, more: Record<string, unknown> = {}): Promise<unknown> => {
    last += 1;
    const id = last;
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ ...more, id, type }));
    const { success, result, error } = await within(answered, `Home Assistant to answer ${type}`);
    if (success !== true) throw new Error(`${type}: ${JSON.stringify(error)}`);
    return result;
  };
  return {
    ask,
    subscribe: async (event, heard) => {
      listeners.set(last + 1, heard);
      await ask("subscribe_events", { event_type: event });
    },
    close: () => socket.close(),
  };
}

const Side = z.object({ state: z.string() }).nullable();
const Changed = z.object({ entity_id: z.string(), old_state: Side, new_state: Side });

/** Keeps every change of a state from now on. */
async function recorded(socket: Socket): Promise<Change[]> {
  const changes: Change[] = [];
  await socket.subscribe("state_changed", (data) => {
    const { entity_id: entity, old_state: old, new_state: now } = Changed.parse(data);
    changes.push({ at: Date.now(), entity, from: old?.state ?? null, to: now?.state ?? null });
  });
  return changes;
}
