import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import type { OfferedControl } from "../../controls.ts";
import type { Driver, Reading, Rig } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { Access } from "../shared/access.ts";
import { poolCommands } from "../shared/cgminer-pools.ts";
import { accepted, poolsOf, statusOf } from "../shared/cgminer-replies.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { clockOf, optionsOf } from "./commands.ts";
import { offers, rebootSeconds } from "./controls.ts";
import { type Generation, generationOf, identityOf } from "./generation.ts";
import { type Line, parseLine } from "./line.ts";
import { AvalonPools } from "./pools.ts";
import { devicesOf, haltOf, readingsOf, type Snapshot, snapshotOf } from "./readings.ts";
import { AvalonWeb } from "./web.ts";

/**
 * Canaan's Avalon: A-series, Nano 3 and 3S, Mini 3, Q. RPC without a login, one request at a time; pools are stored
 * with the password of the web page. Source: asic.md 3.6; A10 API manual; firmware of the Nano 3S.
 */
export const avalon: Driver = {
  id: "avalon",
  name: "Avalon (A-series, Nano 3, Nano 3S, Mini 3, Q)",
  ports: [4028, 80],
  login: { keys: ["password"], adds: "given pools that it keeps after a restart" },
  makersLogin: { username: "root", password: "root" },
  evidence: { readings: "recorded", controls: "vendor document" },
  recognise: ({ version, root }) => {
    if (version !== null) return recognised(version);
    return root !== null && root.status < 400 && /\bAvalon/.test(root.body) ? { make: "Avalon" } : undefined;
  },
  connect: (link) => new AvalonRig(link),
};

function recognised(version: unknown): Partial<Identity> | undefined {
  const text = JSON.stringify(version)?.toUpperCase() ?? "";
  if (statusOf(version) === null || !text.includes("AVALON") || others.test(text)) return undefined;
  const fields = versionOf(version);
  return identityOf(fields, generationOf(fields, undefined), new Map());
}

/** Other firmware that may run on such hardware or mention it. */
const others = /BOSMINER|BOSER|BTMINER|LUXMINER|VNISH|HIVEON|ANTMINER/;

const versionOf = (value: unknown): TolerantReader =>
  new TolerantReader(value, new Notes(), "").list("VERSION")[0] ??
  new TolerantReader(undefined, new Notes(), "VERSION[0]");

/** The fullest first. Some firmware leaves `stats` empty. */
const reports = ["stats", "estats", "litestats"] as const;

/** Reads until an empty fuller report, as some rigs give while starting, is requested again. */
const settledReads = 20;

/** Of a read's time, for values that are read once; the next read continues. */
const onceShare = 0.3;

/** What a rig is; valid until other firmware, or another rig, may answer. */
interface Self {
  readonly generation: Generation;
  readonly identity: Identity;
}

class AvalonRig implements Rig {
  readonly pools: AvalonPools;
  readonly #rpc: RpcTransport;
  readonly #link: Link;
  readonly #web: AvalonWeb;
  /** The report that last had a line, and for how many reads only that one is requested. */
  #report: (typeof reports)[number] = "stats";
  #settled = 0;
  #self: Self | undefined;
  /** undefined before it was read, null where the firmware has no such list. */
  #options: ReadonlySet<string> | null | undefined;
  /** Whether its cgminer knows the commands for pools and takes them from here. */
  readonly #access: Access;
  #firmware: string | null = null;
  #uptime: number | null = null;
  /** By how many seconds the rig's clock is ahead of this computer's. */
  #ahead = 0;
  readonly #light: { before: string | null } = { before: null };
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#link = link;
    this.#rpc = link.rpc;
    this.#web = new AvalonWeb(link.http, link.credentials);
    this.#access = new Access(link.firmware, () => performance.now());
    this.pools = new AvalonPools(link.rpc, this.#web, link.credentials, () => ({
      generation: this.#self?.generation ?? { name: "a-series", series: null },
      options: this.#options ?? null,
      takes: (command) => this.#access.allows(command),
    }));
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const summary = await this.#summary(signal, notes);
    const pools = poolsOf(new TolerantReader(await this.#optional("pools", signal, notes), notes, "").list("POOLS"));
    const line = await this.#line(signal, notes);
    const { generation, identity } = await this.#ask(line, signal, notes);
    const snapshot = snapshotOf(generation, summary, line, notes);
    const readings = readingsOf(snapshot);
    return {
      identity,
      readings,
      pools,
      devices: devicesOf(readings.boards, snapshot),
      controls: this.#offered.offer(this.#offers(snapshot)),
      poolActions: this.pools.actions(pools),
      ...(this.pools.reboot ? { poolSeconds: rebootSeconds } : {}),
      software: null,
      logInterval: snapshot.line.has("GHSspd") ? null : snapshot.rates.seconds,
      workUtility: snapshot.line.number("WU") ?? summary.number("Work Utility"),
      starting: snapshot.work === "init",
      halt: haltOf(snapshot, pools),
    };
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    try {
      return await this.#offered.set(this, key, value, signal);
    } catch (error) {
      if (error instanceof RigbridgeError && error.code === "control.absent") this.#options = undefined;
      throw error;
    }
  }

  doubt(): void {
    this.#self = undefined;
    // Firmware that once gave no list may have been too busy for it.
    this.#options ??= undefined;
  }

  close(): void {
    this.#rpc.close();
    this.#link.http.close();
  }

  async #summary(signal: AbortSignal, notes: Notes): Promise<TolerantReader> {
    const { value, notes: repairs } = await this.#rpc.send("summary", undefined, signal);
    accepted(this.#rpc.at, "summary", value);
    notes.addAll(repairs);
    const clock = clockOf(value);
    if (clock !== null) this.#ahead = clock - Date.now() / 1_000;
    const summary =
      new TolerantReader(value, notes, "").list("SUMMARY")[0] ?? new TolerantReader(undefined, notes, "SUMMARY[0]");
    if (summary.keys().length === 0) notes.add("the rig's summary is empty");
    const uptime = summary.number("Elapsed");
    // What answers now may be other firmware.
    if (uptime !== null && this.#uptime !== null && uptime < this.#uptime) this.doubt();
    this.#uptime = uptime ?? this.#uptime;
    return summary;
  }

  /** Undefined, with a note, if this report cannot be read; the others can. */
  async #optional(command: string, signal: AbortSignal, notes: Notes): Promise<unknown> {
    try {
      const { value, notes: repairs } = await this.#rpc.send(command, undefined, signal);
      notes.addAll(repairs);
      return value;
    } catch (error) {
      if (!(error instanceof RigbridgeError) || error.code !== "rig.garbled") throw error;
      notes.add(`the rig's answer to "${command}" cannot be read`);
      return undefined;
    }
  }

  /** The line of the first module, from the report that last had one. */
  async #line(signal: AbortSignal, notes: Notes): Promise<Line> {
    const alone = this.#settled > 0;
    if (alone) this.#settled -= 1;
    for (const report of alone ? [this.#report] : reports) {
      const line = parseLine(textOf(await this.#optional(report, signal, notes)));
      if (line.fields.size === 0) continue;
      this.#report = report;
      if (!alone && report !== "stats") this.#settled = settledReads;
      return line;
    }
    if (!alone) this.#settled = settledReads;
    return parseLine("");
  }

  /** Reads values that are needed once; a failure does not fail the read. */
  async #ask(line: Line, signal: AbortSignal, notes: Notes): Promise<Self> {
    const until = performance.now() + this.#link.pace.partMs(onceShare);
    try {
      this.#self ??= await this.#introduction(line, signal);
      this.#options = this.#options === undefined ? await optionsOf(this.#rpc, signal) : this.#options;
      await this.#access.refresh(this.#rpc, Object.values(poolCommands), until, signal);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      notes.add("the rig did not answer which model it is and what controls it has");
    }
    return this.#self ?? selfOf(new TolerantReader(undefined, new Notes(), ""), line);
  }

  async #introduction(line: Line, signal: AbortSignal): Promise<Self> {
    const self = selfOf(versionOf((await this.#rpc.send("version", undefined, signal)).value), line);
    this.#link.firmware.recognise(self.identity);
    if (self.identity.firmware !== this.#firmware) {
      if (this.#firmware !== null) this.#link.firmware.doubt();
      this.#firmware = self.identity.firmware;
      this.#options = undefined;
    }
    if (self.generation.name !== "nano3" || self.identity.mac !== null) return self;
    // It reports neither MAC nor serial number, so two of them could not be distinguished.
    return { ...self, identity: { ...self.identity, mac: await this.#macOfPage(signal) } };
  }

  async #macOfPage(signal: AbortSignal): Promise<string | null> {
    for (const path of ["/get_minerinfo.cgi", "/get_miner_info.cgi"]) {
      try {
        const mac = (await this.#web.report(path, signal))?.mac;
        if (typeof mac === "string") return normalMac(mac);
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        return null;
      }
    }
    return null;
  }

  #offers(snapshot: Snapshot): OfferedControl[] {
    if (this.#options === undefined) return [];
    const now = (): number => Date.now() / 1_000 + this.#ahead;
    return offers({ rpc: this.#rpc, snapshot, options: this.#options, now, light: this.#light });
  }
}

function selfOf(version: TolerantReader, { fields }: Line): Self {
  const generation = generationOf(version, fields.get("Ver"));
  return { generation, identity: identityOf(version, generation, fields) };
}

/** `MM ID0`, or summary and boards separately as on the Q; other modules are ignored. */
function textOf(value: unknown): string {
  const list: unknown = isRecord(value) ? value.STATS : undefined;
  if (!Array.isArray(list)) return "";
  const found: unknown = list.slice(0, 64).find((each: unknown) => isRecord(each) && lineOf(each) !== "");
  if (!isRecord(found)) return "";
  const boards = Object.hasOwn(found, "HBinfo") && typeof found.HBinfo === "string" ? found.HBinfo : "";
  return `${lineOf(found)} ${boards}`;
}

function lineOf(stats: Readonly<Record<string, unknown>>): string {
  for (const key of ["MM ID0:Summary", "MM ID0", "MM ID1", "MM ID1:Summary"]) {
    const text = Object.hasOwn(stats, key) ? stats[key] : undefined;
    if (typeof text === "string" && text !== "") return text;
  }
  return "";
}
