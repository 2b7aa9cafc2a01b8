import type { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import type { OfferedControl } from "../../controls.ts";
import type { Driver, Login, PoolControls, Question, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes } from "../../tolerant-reader.ts";
import { digestTransport } from "../../transports/digest.ts";
import { kindOf } from "../cgminer/identity.ts";
import { isRefusal, statusOf } from "../shared/cgminer-replies.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { asleep, type MinerConfig, poolsOf } from "./config.ts";
import { nameOf, offers, stored, webControls } from "./controls.ts";
import { listActions, listPools } from "./pools.ts";
import { AntminerReader, type Snapshot } from "./reader.ts";
import { AntminerByRpc } from "./rpc.ts";
import { AntminerWeb } from "./web.ts";

/**
 * Bitmain's own firmware on its Antminers: the RPC of cgminer, which only reads, and a web interface with digest login,
 * which also writes. Source: the requests of its web page, old (S9, S17) and new (S19 and later), and recordings.
 */
export const antminer: Driver = {
  id: "antminer",
  name: "Antminer (Bitmain's firmware)",
  evidence: { readings: "recorded", controls: "other source" },
  ports: [80, 4028],
  login: { keys: ["username", "password"], adds: "rebooted and located, and its pools and fan changed" },
  makersLogin: { username: "root", password: "root" },
  recognise: (signs) => recognise(signs),
  connect: (link) => connect(link),
};

/** By its RPC if that is open, which also names other firmware on the same hardware; otherwise by its login realm. */
function recognise({ root, version, reports }: Signs): Partial<Identity> | Question | undefined {
  const status = statusOf(version);
  // Some firmware no longer knows `version`, but names itself in `stats`.
  if (status !== null && isRefusal(status) && !Object.hasOwn(reports, "stats")) return { command: "stats" };
  const kind = kindOf(version, reports.stats ?? null);
  // MSKMiner names the hardware too.
  if (kind !== undefined && /rwglr/i.test(JSON.stringify(version))) return undefined;
  if (kind !== undefined && kind.identity.make !== null) {
    return kind.identity.make === "Antminer" ? kind.identity : undefined;
  }
  const asksLogin = root?.status === 401 && /realm="?antMiner/i.test(root.headers["www-authenticate"] ?? "");
  return asksLogin ? { make: "Antminer" } : undefined;
}

function connect(link: Link): Rig {
  const { username, password } = link.credentials;
  if (username === undefined && password === undefined) return new AntminerByRpc(link);
  // The only user of Bitmain's firmware.
  return new AntminerRig(link, { username: username ?? "root", password: password ?? "" });
}

class AntminerRig implements Rig {
  readonly #web: AntminerWeb;
  readonly #reader: AntminerReader;
  readonly #link: Link;
  readonly #offered = new OfferedControls();
  /** Why the web did not answer the last read. */
  #trouble: RigbridgeError | null = null;
  /** The last mode in which it was awake. */
  #awake = 0;
  /** Whether the last statistics listed fans. */
  #hasFans = true;

  constructor(link: Link, login: Login) {
    this.#link = link;
    this.#web = new AntminerWeb(digestTransport(link.http, login));
    this.#reader = new AntminerReader(link, this.#web);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const snapshot = await this.#reader.read(signal, notes);
    this.#trouble = snapshot.trouble;
    if (snapshot.trouble !== null) notes.add(`nothing can be controlled now: ${snapshot.trouble.unquoted}`);
    const { config, report } = snapshot;
    if (config !== null && config.mode !== null && config.mode !== asleep) this.#awake = config.mode;
    if (report !== null && report.readings.boards.length > 0) this.#hasFans = report.readings.fans.length > 0;
    const running = report?.pools ?? [];
    return {
      identity: snapshot.identity,
      readings: { ...readingsOf(snapshot), notes: notes.list() },
      pools: config === null ? running : poolsOf(config, running),
      devices: report?.devices ?? [],
      controls: this.#offered.offer(this.#offers(snapshot)),
      poolActions: config === null || snapshot.generation === null ? [] : listActions(config),
      ...(snapshot.trouble?.code === "rig.login"
        ? { locked: { why: "login wrong", text: snapshot.trouble.unquoted } }
        : {}),
      poolSeconds: stored.seconds,
      software: null,
      logInterval: report?.logInterval ?? null,
      workUtility: report?.workUtility ?? null,
    };
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    if (webControls.includes(key) && !(await this.#offered.has(this, key, signal))) this.#reachableWeb();
    return this.#offered.set(this, key, value, signal).finally(() => this.#reader.rereadLight());
  }

  get pools(): PoolControls {
    return listPools(async (to, signal) => {
      const change = (config: MinerConfig): MinerConfig => ({ ...config, pools: to(config.pools) });
      return this.#reachableWeb().change(change, signal);
    });
  }

  doubt(): void {
    this.#reader.doubt();
  }

  close(): void {
    this.#link.http.close();
    this.#link.rpc.close();
  }

  /** Throws why the web interface cannot be used. */
  #reachableWeb(): AntminerWeb {
    if (this.#trouble !== null) throw this.#trouble;
    return this.#web;
  }

  #offers({ generation, config, blinks }: Snapshot): OfferedControl[] {
    if (generation === null) return [];
    return offers(this.#web, generation, { config, blinks, hasFans: this.#hasFans, awake: this.#awake });
  }
}

function readingsOf({ report, remarks, config, blinks, foundBlocks, silence, algorithm }: Snapshot): RigReadings {
  const readings = report?.readings ?? unknownReadings();
  const sleeps = config?.mode === asleep;
  const { hashrate, shares } = readings;
  return {
    ...readings,
    algorithm,
    hashrate: sleeps ? (hashrate ?? 0) : hashrate,
    mining: sleeps ? false : hashrate === null ? null : hashrate > 0,
    mode: config === null || config.mode === null ? null : nameOf(config.mode),
    locate: blinks,
    bestShare: readings.bestShare ?? remarks?.bestShare ?? null,
    foundBlocks: readings.foundBlocks ?? foundBlocks,
    shares: { ...shares, hardwareErrors: shares.hardwareErrors ?? remarks?.hardwareErrors ?? null },
    errors: [
      ...readings.errors,
      ...(remarks?.errors ?? []),
      ...(silence === null || sleeps ? [] : [{ code: "miner.silent", text: silence }]),
    ],
  };
}
