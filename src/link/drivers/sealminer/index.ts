import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { choice, type OfferedControl, toggle, trigger } from "../../controls.ts";
import type { Driver, PoolAction, PoolControls, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { Access } from "../shared/access.ts";
import { cgminerPools, poolCommands } from "../shared/cgminer-pools.ts";
import { accepted, poolsOf, ratesOf } from "../shared/cgminer-replies.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { besideRpc, RpcReports } from "../shared/rpc-reports.ts";
import { devicesOf, identityOf, isOn, modeOf, modesOf, readingsOf, type Snapshot } from "./readings.ts";
import { SealminerWeb } from "./web.ts";

/**
 * Sealminer (Bitdeer): cgminer's RPC with its own statistics, and pages with a login for its light, mode and reboot.
 * Sources: recorded replies; the controls of other programs. A power limit is not set: its bounds are not documented.
 */
export const sealminer: Driver = {
  id: "sealminer",
  name: "Sealminer (Bitdeer)",
  evidence: { readings: "recorded", controls: "other source" },
  ports: [4028, 80],
  login: { keys: ["username", "password"], adds: "controlled" },
  makersLogin: { username: "seal", password: "seal" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new SealminerRig(link),
};

const recognise = ({ version }: Signs): Partial<Identity> | undefined =>
  isRecord(version) && /BDMINER/i.test(JSON.stringify(version)) ? { make: "Sealminer" } : undefined;

const rpcReports = ["summary", "stats", "pools"] as const;

const poolActions = ["add", "switch", "enable", "disable", "remove", "prioritize"] as const satisfies PoolAction[];
const commands = [...Object.values(poolCommands), "restart", "ascset"];
/** Of a read's time, for questions about these commands; the next read continues. */
const sideShare = 0.3;

const starting = { lasting: false, restartsMining: true, seconds: 300 };

class SealminerRig implements Rig {
  readonly #link: Link;
  readonly #web: SealminerWeb;
  readonly #access: Access;
  readonly pools: PoolControls;
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#link = link;
    this.#web = new SealminerWeb(link);
    this.#access = new Access(link.firmware, link.monotonicNow);
    this.pools = cgminerPools(link.rpc, (command, parameter, signal) => this.#do(command, parameter, signal));
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const reports = await RpcReports.read(this.#link.rpc, rpcReports, signal, notes);
    await this.#askAccess(signal);
    const info = await besideRpc(this.#web, "its pages do", notes, () => this.#web.get("get_system_info", signal));
    const snapshot: Snapshot = {
      summary: reports.first("summary"),
      stats: reports.first("stats"),
      info: new TolerantReader(info ?? undefined, notes, "info"),
    };
    const readings = readingsOf(snapshot);
    const { locked } = this.#web;
    if (locked !== null) notes.add(locked.text);
    return {
      identity: identityOf(snapshot),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(reports.list("pools")),
      devices: devicesOf(snapshot, readings.boards),
      controls: this.#offered.offer([...this.#ofRpc(snapshot), ...(info === null ? [] : ofWeb(this.#web, snapshot))]),
      poolActions: poolActions.filter((action) => this.#access.allows(poolCommands[action])),
      starting: snapshot.stats.boolean("Raise Freq Done") === false,
      software: null,
      logInterval: ratesOf(snapshot.summary).seconds,
      workUtility: snapshot.summary.number("Work Utility"),
      ...(locked === null ? {} : { locked }),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  close(): void {
    this.#link.rpc.close();
    this.#web.close();
  }

  /** A failure does not fail the read. */
  async #askAccess(signal: AbortSignal): Promise<void> {
    try {
      const until = this.#link.monotonicNow() + this.#link.pace.partMs(sideShare);
      await this.#access.refresh(this.#link.rpc, commands, until, signal);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
    }
  }

  /** It is stopped by `ascset`, and started by a restart of its program. */
  #ofRpc(snapshot: Snapshot): OfferedControl[] {
    if (!this.#access.allows("restart")) return [];
    const offered: OfferedControl[] = [
      { control: trigger("restart", starting), set: (_, signal) => this.#do("restart", undefined, signal) },
    ];
    if (!this.#access.allows("ascset")) return offered;
    return [
      {
        control: toggle("mining", isOn(snapshot), { ...starting, restartsMining: false }),
        set: (on, signal) =>
          on === true ? this.#do("restart", undefined, signal) : this.#do("ascset", "0,suspend", signal),
      },
      ...offered,
    ];
  }

  async #do(command: string, parameter: string | undefined, signal: AbortSignal): Promise<string> {
    const { value } = await this.#link.rpc.send(command, parameter, signal);
    return accepted(this.#link.rpc.at, command, value);
  }
}

/** With the login of its pages. */
function ofWeb(web: SealminerWeb, snapshot: Snapshot): OfferedControl[] {
  const send = async (page: string, body: unknown, done: string, signal: AbortSignal): Promise<string> =>
    (await web.command(page, body, signal)) || done;
  // Those of "custom" are set elsewhere.
  const modes = modesOf(snapshot).filter(({ name }) => name !== "custom");
  const names = modes.map(({ name }) => name);
  const present = modeOf(snapshot);
  const mode: OfferedControl = {
    control: choice("mode", names, present !== null && names.includes(present) ? present : null, {
      ...starting,
      lasting: true,
    }),
    set: (wanted, signal) => {
      const miningMode = modes.find(({ name }) => name === wanted)?.number;
      return send("set_mining_mode", { miningMode }, "Sealminer changes its mode", signal);
    },
  };
  return [
    ...(modes.length === 0 ? [] : [mode]),
    {
      control: toggle("locate", snapshot.info.boolean("led"), { lasting: false, restartsMining: false, seconds: 5 }),
      set: (on, signal) => {
        const body = { key: "led", value: on === true ? "on" : "off" };
        return send("led_conf", body, on === true ? "Sealminer blinks" : "Sealminer stops blinking", signal);
      },
    },
    {
      control: trigger("reboot", starting),
      set: (_, signal) => send("reboot", undefined, "Sealminer reboots", signal),
    },
  ];
}
