import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { type Steer, steer } from "../../controls.ts";
import type { Driver, PoolControls, Reading, Rig, Signs } from "../../driver.ts";
import { isRecord, Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { accepted, poolsOf } from "../shared/cgminer-replies.ts";
import { offers } from "./controls.ts";
import { poolActions, poolControls } from "./pools.ts";
import { profilesOf } from "./profiles.ts";
import { firmwareOf, haltOf, identityOf, readingsOf, snapshotOf } from "./readings.ts";
import { LuxosReports, liveReports, type Reports, recordOf, recordsOf, seldomReports } from "./reports.ts";
import { LuxosSession } from "./session.ts";

/**
 * LuxOS, Luxor's firmware for Antminers: the RPC of cgminer with commands of its own and no login.
 * Source: docs.luxor.tech, "LUXminer commands".
 */
export const luxos: Driver = {
  id: "luxos",
  name: "LuxOS (Luxor, on Antminer)",
  evidence: { readings: "recorded", controls: "vendor document" },
  ports: [4028],
  recognise: (signs) => recognise(signs),
  connect: ({ rpc }) => new LuxosRig(rpc),
};

function recognise({ root, version }: Signs): Partial<Identity> | undefined {
  if (isRecord(version) && /LUXMINER/i.test(JSON.stringify(version))) {
    const said = recordOf({ version }, "version", "VERSION", new Notes());
    return { make: "LuxOS", model: said.text("Type"), firmware: firmwareOf(said) };
  }
  return root !== null && /Luxor Firmware/i.test(root.body) ? { make: "LuxOS" } : undefined;
}

/** ms; profiles, events and the version change seldom. */
const askAgainAfter = 60_000;
/** ms of a read that may go into voltages, a question a board. */
const questionTime = 1_500;

class LuxosRig implements Rig {
  readonly #rpc: RpcTransport;
  readonly #reports: LuxosReports;
  readonly #session: LuxosSession;
  readonly pools: PoolControls;
  #seldom: { readonly at: number; readonly reports: Reports } | undefined;
  /** V by board; each is asked anew now and then. */
  readonly #voltages = new Map<number, number>();
  #voltagesAt = Number.NEGATIVE_INFINITY;
  #askedLimit: number | null = null;
  #steers: readonly Steer[] | undefined;

  constructor(rpc: RpcTransport) {
    this.#rpc = rpc;
    this.#reports = new LuxosReports(rpc);
    this.#session = new LuxosSession(rpc);
    this.pools = poolControls(rpc);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const live = await this.#reports.ask(liveReports, signal, notes);
    accepted(this.#rpc.at, "summary", live.summary);
    const seldom = await this.#askSeldom(signal, notes);
    const profiles = profilesOf(live, seldom, notes);
    await this.#askVoltages(live, signal);
    const picture = snapshotOf(live, this.#voltages, notes);
    const steers = offers((signal, work) => this.#session.during(signal, work), {
      picture,
      profiles,
      temperatures: recordOf(live, "tempctrl", "TEMPCTRL", notes),
      askedLimit: this.#askedLimit,
      limitAsked: (watts) => {
        this.#askedLimit = watts;
      },
    });
    this.#steers = steers;
    const version = recordOf(seldom, "version", "VERSION", notes);
    const readings = readingsOf(live, seldom, picture, profiles);
    return {
      identity: identityOf(live, version, notes),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(recordsOf(live, "pools", "POOLS", notes)),
      devices: picture.boards.map(({ reading }) => reading),
      controls: steers.map(({ control }) => control),
      poolActions,
      software: null,
      logInterval: picture.rates.seconds,
      workUtility: picture.summary.number("Work Utility"),
      halt: haltOf(picture.config),
    };
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    if (this.#steers === undefined) await this.read(signal);
    return steer(this.#steers ?? [], key, value, signal);
  }

  doubt(): void {
    this.#seldom = undefined;
  }

  close(): void {
    this.#rpc.close();
  }

  /** A read never fails for these; what could not be had is asked for again with the next one. */
  async #askSeldom(signal: AbortSignal, notes: Notes): Promise<Reports> {
    const last = this.#seldom;
    if (last !== undefined && performance.now() - last.at < askAgainAfter) return last.reports;
    try {
      const reports = await this.#reports.ask(seldomReports, signal, notes);
      this.#seldom = { at: performance.now(), reports };
      return reports;
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      notes.add("its version and profiles could not be read");
      return last?.reports ?? {};
    }
  }

  async #askVoltages(live: Reports, signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#voltagesAt < askAgainAfter) return;
    this.#voltagesAt = performance.now();
    this.#voltages.clear();
    const boards = recordsOf(live, "devs", "DEVS", new Notes()).flatMap((device) => device.integer("ID") ?? []);
    for (const board of boards.slice(0, 8)) {
      if (performance.now() - this.#voltagesAt > questionTime) return;
      try {
        const { value } = await this.#rpc.send("voltageget", String(board), signal);
        const [said] = new TolerantReader(value, new Notes(), "").list("VOLTAGE");
        const volts = said?.number("Voltage", { absent: 0, max: 100 }) ?? null;
        if (volts !== null) this.#voltages.set(board, volts);
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        return;
      }
    }
  }
}
