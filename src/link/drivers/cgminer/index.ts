import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { type OfferedControl, toggle, trigger } from "../../controls.ts";
import type { Driver, PoolAction, PoolControls, Reading, Rig } from "../../driver.ts";
import type { RigFirmware } from "../../firmware.ts";
import { normalMac, unknownIdentity } from "../../identity.ts";
import type { Link } from "../../link.ts";
import type { Pace } from "../../pace.ts";
import { tuning } from "../../reason.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { Access } from "../shared/access.ts";
import { cgminerPools, poolCommands } from "../shared/cgminer-pools.ts";
import { accepted, firstOf, isRefused, lacks } from "../shared/cgminer-replies.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { type CardReport, Cards } from "./cards.ts";
import { type Kind, kindOf } from "./identity.ts";
import {
  readingsOf,
  refusedSummary,
  type Sections,
  type Snapshot,
  snapshotOf,
  standsInForSummary,
} from "./readings.ts";

/**
 * The RPC of cgminer, bfgminer and sgminer; most ASIC firmware speaks a dialect of it.
 * Source: cgminer API-README, bfgminer README.RPC. `quit` is never sent: nothing could start the miner again.
 */
export const cgminer: Driver = {
  id: "cgminer",
  name: "cgminer RPC (cgminer, bfgminer, sgminer, Antminer)",
  evidence: { readings: "ran", controls: "ran" },
  ports: [4028],
  recognise: ({ version }) => kindOf(version, null)?.identity,
  connect: (link) => new CgminerRig(link),
};

const sectionNames = ["summary", "pools", "devs", "stats"] as const;
type SectionName = (typeof sectionNames)[number];
/** Bitmain's statistics include the boards, so a slow rig with them is not also queried for its devices. */
const sectionNamesOfSlow = ["summary", "stats", "pools", "devs"] as const satisfies readonly SectionName[];

/** Questions about the rig that may be joined to the reports. */
type Question = "version" | "coin";
/** A question about firmware: whether it joins commands. */
const joining = "joins commands";

/** Some firmware has only this longer list of devices. */
const fullerDevices = "edevs";

const poolActions = ["add", "switch", "enable", "disable", "remove", "prioritize"] as const satisfies PoolAction[];

/** Of a read's time, for requests beside the readings; the next read continues. */
const sideShare = 0.3;

class CgminerRig implements Rig {
  readonly #rpc: RpcTransport;
  readonly #pace: Pace;
  readonly #now: () => number;
  readonly #firmware: RigFirmware;
  readonly #access: Access;
  /** Null until it is known to have cards. */
  #cards: Cards | null = null;
  /** Whether joined commands (`a+b`) work; null before the first try. */
  #joins: boolean | null = null;
  /** Whether questions may be joined to the reports; null before the first try. */
  #joinsQuestions: boolean | null = null;
  /** The command that lists its devices; null while `devs` has not been refused. */
  #devices: "devs" | typeof fullerDevices | null = null;
  #kind: Kind | undefined;
  /** s, at the last read. */
  #uptime: number | null = null;
  /** undefined before it was read. */
  #algorithm: string | null | undefined;
  readonly #offered = new OfferedControls();

  constructor({ rpc, firmware, monotonicNow, pace }: Pick<Link, "rpc" | "firmware" | "monotonicNow" | "pace">) {
    this.#rpc = rpc;
    this.#pace = pace;
    this.#now = monotonicNow;
    this.#firmware = firmware;
    this.#access = new Access(firmware, monotonicNow);
  }

  get pools(): PoolControls {
    return cgminerPools(this.#rpc, (command, parameter, signal) => this.#do(command, parameter, signal));
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const sections = await this.#sections(signal, notes);
    this.#noticeRestart(uptimeOf(sections));
    await this.#introduce(sections, signal);
    const snapshot = snapshotOf(sections, notes, this.#kind?.identity ?? unknownIdentity);
    await this.#ask(sections, snapshot, signal);
    const kind = this.#kind;
    const { devices, dual, dualPools } = await this.#readCards(snapshot, signal);
    const denial = kind?.software ? (readOnlyNotes[kind.software] ?? readOnlyNote) : deniedNote;
    if (this.#access.deniedAll) notes.add(denial);
    // The firmware of some ASIC miners names the algorithm of the cgminer that it was made from.
    const algorithm = kind?.algorithm ?? this.#algorithm ?? snapshot.algorithm;
    return {
      identity: { ...(kind?.identity ?? unknownIdentity), ...macOf(snapshot.summary, kind) },
      readings: { ...readingsOf(snapshot), algorithm, dual, notes: notes.list() },
      pools: [...snapshot.pools, ...dualPools],
      devices,
      controls: this.#offered.offer(this.#offers(snapshot)),
      poolActions: poolActions.filter((action) => this.#access.allows(poolCommands[action])),
      ...(this.#access.deniedAll ? { locked: { why: "read-only", text: denial } } : {}),
      software: kind?.software ?? null,
      logInterval: snapshot.rates.seconds,
      workUtility: snapshot.summary.number("Work Utility"),
      ...(snapshot.bitmain?.isTuning === true ? { halt: tuning } : {}),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  doubt(): void {
    this.#kind = undefined;
  }

  close(): void {
    this.#rpc.close();
  }

  /** After a restart it may be other firmware, have other options, or be another rig. */
  #noticeRestart(uptime: number | null): void {
    if (uptime !== null && this.#uptime !== null && uptime < this.#uptime) {
      this.#kind = undefined;
      this.#algorithm = undefined;
      this.#cards?.forget();
      this.#firmware.doubt(this.#now() - 1000 * uptime);
    }
    this.#uptime = uptime ?? this.#uptime;
  }

  async #sections(signal: AbortSignal, notes: Notes): Promise<Sections> {
    const sections = await this.#reports(signal, notes);
    if (this.#devices !== null || !isRefused(sections.devs)) return sections;
    const fuller = await this.#question(fullerDevices, signal);
    this.#devices = new TolerantReader(fuller, new Notes(), "").isList("DEVS") ? fullerDevices : "devs";
    return { ...sections, devs: fuller };
  }

  /** Throws `rig.refused` where the rig refuses its summary and nothing stands in for it. */
  async #reports(signal: AbortSignal, notes: Notes): Promise<Sections> {
    const found = await this.#ofOneRead(signal, notes);
    if (isRefused(found.summary) && standsInForSummary(found.stats)) notes.add(refusedSummary);
    else accepted(this.#rpc.at, "summary", found.summary);
    return found;
  }

  /** The four reports, joined where the rig supports it: separate ones cost more than twice as much. */
  async #ofOneRead(signal: AbortSignal, notes: Notes): Promise<Sections> {
    this.#joins ??= this.#firmware.has(joining) ?? null;
    const questions = this.#questionsToJoin();
    if (questions.length > 0) {
      const joined = await this.#withQuestions(questions, signal, notes);
      if (joined !== null) return joined;
    }
    if (this.#joins !== false) {
      const joined = await this.#joined([], signal, notes);
      if (this.#joins !== null) this.#firmware.keep(joining, this.#joins);
      if (joined !== null) return joined;
    }
    try {
      return await this.#separate(signal, notes);
    } catch (error) {
      // Either the rig hung or only the joined command, so joining is tried again.
      if (error instanceof RigbridgeError && error.code === "rig.timeout" && !this.#pace.isSlow) this.#joins = null;
      throw error;
    }
  }

  /** The queries for a rig that can join commands. */
  #questionsToJoin(): Question[] {
    if (this.#joins !== true || this.#joinsQuestions === false) return [];
    const asksCoin = this.#algorithm === undefined && this.#firmware.has("coin") === true;
    return [...(this.#kind === undefined ? (["version"] as const) : []), ...(asksCoin ? (["coin"] as const) : [])];
  }

  /** null when the rig does not join these: they are then asked one by one. */
  async #withQuestions(questions: readonly Question[], signal: AbortSignal, notes: Notes): Promise<Sections | null> {
    this.#joinsQuestions = false;
    try {
      const joined = await this.#joined(questions, signal, notes);
      this.#joinsQuestions = joined !== null;
      return joined;
    } catch (error) {
      if (error instanceof RigbridgeError && error.code === "rig.garbled") return null;
      throw error;
    } finally {
      this.#joins = true;
    }
  }

  async #separate(signal: AbortSignal, notes: Notes): Promise<Sections> {
    const found: Record<SectionName, unknown> = { summary: null, pools: null, devs: null, stats: null };
    const { isSlow } = this.#pace;
    for (const name of isSlow ? sectionNamesOfSlow : sectionNames) {
      if (name === "devs" && isSlow && standsInForSummary(found.stats)) continue;
      const reply = await this.#rpc.send(this.#commandFor(name), undefined, signal);
      notes.addAll(reply.notes);
      found[name] = reply.value;
    }
    return found;
  }

  #commandFor(name: SectionName): string {
    return name === "devs" ? (this.#devices ?? name) : name;
  }

  /** null when the rig does not join commands; that is remembered. */
  async #joined(questions: readonly Question[], signal: AbortSignal, notes: Notes): Promise<Sections | null> {
    try {
      const joined = [...sectionNames.map((name) => this.#commandFor(name)), ...questions].join("+");
      const { value, notes: repairs } = await this.#rpc.send(joined, undefined, signal);
      const parts = isRecord(value) ? value : {};
      if (!Array.isArray(parts.summary)) {
        this.#joins = false;
        return null;
      }
      this.#joins = true;
      notes.addAll(repairs);
      return {
        summary: firstOf(parts.summary),
        pools: firstOf(parts.pools),
        devs: firstOf(parts[this.#commandFor("devs")]),
        stats: firstOf(parts.stats),
        ...Object.fromEntries(questions.map((question) => [question, firstOf(parts[question])])),
      };
    } catch (error) {
      // Some rigs do not answer a joined command at all. Once joining has worked, a failure is temporary.
      const code = error instanceof RigbridgeError ? error.code : null;
      if (this.#joins === true || code === "rig.unreachable" || code === null) throw error;
      this.#joins = false;
      if (code === "rig.timeout") throw error;
      return null;
    }
  }

  /** Reads its identity, on which the meaning of its figures depends; a failure does not fail the read. */
  async #introduce({ stats, version }: Sections, signal: AbortSignal): Promise<void> {
    if (this.#kind !== undefined) return;
    try {
      this.#kind = kindOf(version ?? (await this.#question("version", signal)) ?? stats, stats);
      if (this.#kind !== undefined) this.#firmware.recognise(this.#kind.identity);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
    }
  }

  /** Reads values that are needed once or rarely; a failure does not fail the read. */
  async #ask({ coin }: Sections, snapshot: Snapshot, signal: AbortSignal): Promise<void> {
    const until = this.#now() + this.#pace.partMs(sideShare);
    try {
      if (this.#algorithm === undefined) this.#algorithm = await this.#askAlgorithm(coin, signal);
      const commands = [...Object.values(poolCommands), "restart", ...boardCommands(snapshot).flatMap(both)];
      await this.#access.refresh(this.#rpc, commands, until, signal);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
    }
  }

  /** Rigs without cards are asked nothing more. */
  async #readCards({ numbered, devices }: Snapshot, signal: AbortSignal): Promise<CardReport> {
    if (!numbered.some(({ command }) => command === "gpu")) return { devices, dual: null, dualPools: [] };
    this.#cards ??= new Cards(this.#rpc, this.#now);
    return this.#cards.read(numbered, this.#kind?.software === "TeamRedMiner", signal);
  }

  /** null where the firmware does not know the command. */
  async #askAlgorithm(coin: unknown, signal: AbortSignal): Promise<string | null> {
    if (this.#firmware.has("coin") === false) return null;
    const answer = coin ?? (await this.#question("coin", signal));
    this.#firmware.keep("coin", !lacks(answer));
    return algorithmOf(answer);
  }

  /** null when the answer is unreadable, as it may be to an unknown command. */
  async #question(command: string, signal: AbortSignal): Promise<unknown> {
    try {
      return (await this.#rpc.send(command, undefined, signal)).value;
    } catch (error) {
      if (error instanceof RigbridgeError && error.code === "rig.garbled") return null;
      throw error;
    }
  }

  #offers(snapshot: Snapshot): OfferedControl[] {
    const offered: OfferedControl[] = [];
    if (this.#access.allows("restart")) {
      offered.push({
        control: trigger("restart", { lasting: false, restartsMining: true, seconds: 30 }),
        set: (_, signal) => this.#do("restart", undefined, signal),
      });
    }
    for (const command of boardCommands(snapshot)) {
      if (!both(command).every((each) => this.#access.allows(each))) continue;
      for (const { number, reading } of snapshot.numbered) {
        if (number > 99) continue;
        offered.push({
          control: toggle(`board_${number}`, reading.status !== "disabled", {
            lasting: false,
            restartsMining: false,
            seconds: 5,
          }),
          set: (on, signal) => this.#do(`${command}${on === true ? "enable" : "disable"}`, String(number), signal),
        });
      }
    }
    return offered;
  }

  async #do(command: string, parameter: string | undefined, signal: AbortSignal): Promise<string> {
    const { value } = await this.#rpc.send(command, parameter, signal);
    return accepted(this.#rpc.at, command, value);
  }
}

const deniedNote = "this rig does not allow this computer to control it over this protocol";
const readOnlyNote =
  "this rig allows this computer only to read it; to control it, start its miner with --api-allow W:address of this computer";

/** Programs whose API is always read only. */
const readOnlyNotes: Readonly<Record<string, string>> = {
  TeamRedMiner: "TeamRedMiner is read only over this API",
};

const both = (command: string): string[] => [`${command}enable`, `${command}disable`];

/** Prefixes of the commands that switch boards; none where boards are not devices of one kind, numbered in order. */
function boardCommands({ bitmain, numbered }: Snapshot): string[] {
  const commands = new Set(numbered.map(({ command }) => command));
  return bitmain === null && commands.size === 1 ? [...commands] : [];
}

const uptimeOf = ({ summary }: Sections): number | null =>
  new TolerantReader(summary, new Notes(), "").list("SUMMARY")[0]?.number("Elapsed") ?? null;

/** WhatsMiner reports its MAC in every summary. */
function macOf(summary: TolerantReader, kind: Kind | undefined): Pick<Identity, "mac"> {
  return { mac: normalMac(summary.text("MAC")) ?? kind?.identity.mac ?? null };
}

/** null where the rig does not know the command. */
const algorithmOf = (value: unknown): string | null =>
  new TolerantReader(value, new Notes(), "").list("COIN")[0]?.text("Hash Method") ?? null;
