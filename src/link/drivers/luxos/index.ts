import { invalidAll, RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import type { Driver, PoolAction, PoolControls, PoolLogin, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import type { Pace } from "../../pace.ts";
import { checkLogin } from "../../pool-login.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { cgminerPools } from "../shared/cgminer-pools.ts";
import { accepted, poolsOf } from "../shared/cgminer-replies.ts";
import { Memo } from "../shared/memo.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { offers } from "./controls.ts";
import { profilesOf } from "./profiles.ts";
import { firmwareOf, haltOf, identityOf, readingsOf, snapshotOf } from "./readings.ts";
import { LuxosReports, liveReports, type Reports, recordOf, recordsOf, seldomReports } from "./reports.ts";
import { LuxosSession } from "./session.ts";

/**
 * LuxOS, Luxor's firmware for Antminers: cgminer's RPC with additional commands and without a login.
 * Source: docs.luxor.tech, "LUXminer commands".
 */
export const luxos: Driver = {
  id: "luxos",
  name: "LuxOS (Luxor, on Antminer)",
  evidence: { readings: "recorded", controls: "vendor document" },
  ports: [4028],
  recognise: (signs) => recognise(signs),
  connect: (link) => new LuxosRig(link),
};

function recognise({ root, version }: Signs): Partial<Identity> | undefined {
  if (isRecord(version) && /LUXMINER/i.test(JSON.stringify(version))) {
    const record = recordOf({ version }, "version", "VERSION", new Notes());
    return { make: "LuxOS", model: record.text("Type"), firmware: firmwareOf(record) };
  }
  return root !== null && /Luxor Firmware/i.test(root.body) ? { make: "LuxOS" } : undefined;
}

/** Profiles, events and the version rarely change. */
const refreshAfterMs = 60_000;
/** Of a read's time, for voltages: one request a board. */
const voltagesShare = 0.3;

class LuxosRig implements Rig {
  readonly #rpc: RpcTransport;
  readonly #pace: Pace;
  readonly #reports: LuxosReports;
  readonly #session: LuxosSession;
  readonly pools: PoolControls;
  readonly #seldom = new Memo<Reports>(refreshAfterMs);
  /** V by board. */
  readonly #voltages = new Memo<Map<number, number>>(refreshAfterMs);
  #lastLimit: number | null = null;
  readonly #offered = new OfferedControls();

  constructor({ rpc, pace }: Pick<Link, "rpc" | "pace">) {
    this.#rpc = rpc;
    this.#pace = pace;
    this.#reports = new LuxosReports(rpc);
    this.#session = new LuxosSession(rpc);
    this.pools = poolControls(rpc);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const live = await this.#reports.ask(liveReports, signal, notes);
    accepted(this.#rpc.at, "summary", live.summary);
    const seldom = await this.#readSeldom(signal, notes);
    const profiles = profilesOf(live, seldom, notes);
    const snapshot = snapshotOf(live, await this.#readVoltages(live, signal), notes);
    const offered = offers((signal, work) => this.#session.during(signal, work), {
      snapshot,
      profiles,
      temperatures: recordOf(live, "tempctrl", "TEMPCTRL", notes),
      lastLimit: this.#lastLimit,
      keepLimit: (watts) => {
        this.#lastLimit = watts;
      },
    });
    const version = recordOf(seldom, "version", "VERSION", notes);
    const readings = readingsOf(live, seldom, snapshot, profiles);
    return {
      identity: identityOf(live, version, notes),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(recordsOf(live, "pools", "POOLS", notes)),
      devices: snapshot.boards.map(({ reading }) => reading),
      controls: this.#offered.offer(offered),
      poolActions,
      software: null,
      logInterval: snapshot.rates.seconds,
      workUtility: snapshot.summary.number("Work Utility"),
      halt: haltOf(snapshot.config),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  doubt(): void {
    this.#seldom.forget();
  }

  close(): void {
    this.#rpc.close();
  }

  /** A failure does not fail the read; the next one tries again. */
  async #readSeldom(signal: AbortSignal, notes: Notes): Promise<Reports> {
    const { isFresh, value } = this.#seldom;
    if (isFresh && value !== undefined) return value;
    try {
      return this.#seldom.keep(await this.#reports.ask(seldomReports, signal, notes));
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      notes.add("its version and profiles could not be read");
      return value ?? {};
    }
  }

  async #readVoltages(live: Reports, signal: AbortSignal): Promise<ReadonlyMap<number, number>> {
    const { isFresh, value: known } = this.#voltages;
    if (isFresh && known !== undefined) return known;
    const voltages = this.#voltages.keep(new Map());
    const until = performance.now() + this.#pace.partMs(voltagesShare);
    const boards = recordsOf(live, "devs", "DEVS", new Notes()).flatMap((device) => device.integer("ID") ?? []);
    for (const board of boards.slice(0, 8)) {
      if (performance.now() > until) break;
      try {
        const { value } = await this.#rpc.send("voltageget", String(board), signal);
        const [reply] = new TolerantReader(value, new Notes(), "").list("VOLTAGE");
        const volts = reply?.number("Voltage", { absent: 0, max: 100 }) ?? null;
        if (volts !== null) voltages.set(board, volts);
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        break;
      }
    }
    return voltages;
  }
}

/** LuxOS has no command for the order of its pools: `poolpriority` is not among its commands. */
const poolActions: readonly PoolAction[] = ["add", "switch", "enable", "disable", "remove"];

/** Pools are changed without a session. Source: Luxor's "CGminer commands". */
function poolControls(rpc: RpcTransport): PoolControls {
  const { prioritize: _, ...pools } = cgminerPools(
    rpc,
    async (command, parameter, signal) => accepted(rpc.at, command, (await rpc.send(command, parameter, signal)).value),
    (part) => part,
  );
  return {
    ...pools,
    add: async (login, signal) => {
      checkLogin(login);
      checkParts(login);
      return pools.add(login, signal);
    },
  };
}

/** LuxOS documents no way to write a comma within a part. */
function checkParts({ worker, password }: PoolLogin): void {
  const mistakes = Object.entries({ worker, password }).flatMap(([path, part]) =>
    part.includes(",") ? [{ path, message: "contains a comma, which LuxOS cannot take" }] : [],
  );
  if (mistakes.length > 0) throw invalidAll(mistakes);
}
