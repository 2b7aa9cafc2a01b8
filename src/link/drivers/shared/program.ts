import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import { detail } from "../../../messages/detail.ts";
import type {
  DeviceReading,
  Driver,
  Halt,
  HttpSign,
  PoolControls,
  PoolReading,
  Question,
  Reading,
  Rig,
  Signs,
} from "../../driver.ts";
import { unknownIdentity } from "../../identity.ts";
import type { Link } from "../../link.ts";
import { noPoolAnswers } from "../../reason.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { parseReply } from "../../transports/json.ts";
import { garbled } from "../../transports/limits.ts";
import { total } from "./figures.ts";
import { modelOfCards, readingsOfCards } from "./gpu-device.ts";

/** What a mining program reports in one read; absent fields are unknown. */
export interface ProgramReport {
  /** Id in GET /api/miningsoftware. */
  readonly software: string;
  /** Its display name. */
  readonly make: string;
  readonly version: string | null;
  /** The name that it was given for its rig. */
  readonly hostname?: string | null;
  readonly readings: Partial<RigReadings>;
  readonly devices: readonly DeviceReading[];
  readonly pools?: readonly PoolReading[];
  /** Seconds over which `hashrate` is averaged. */
  readonly logInterval?: number;
  readonly halt?: Halt | undefined;
  readonly starting?: boolean;
}

/** The report as a reading without controls. Totals that the program does not report are summed over its devices. */
export function readingOf(report: ProgramReport, notes: Notes): Reading {
  const { devices, readings, pools } = report;
  const cards = readingsOfCards(devices);
  const power = readings.power ?? cards.power;
  const hashrate = readings.hashrate ?? total(devices.map((device) => device.hashrate));
  return {
    identity: identityOf(report),
    readings: {
      ...unknownReadings(),
      ...cards,
      ...readings,
      hashrate,
      power,
      powerSource: power === null ? null : (readings.powerSource ?? "reported"),
      temperature: readings.temperature ?? cards.temperature,
      mining: readings.mining ?? (hashrate === null ? null : hashrate > 0),
      shares: sharesOf(readings.shares, devices),
      notes: notes.list(),
    },
    pools: pools ?? [],
    devices,
    controls: [],
    poolActions: [],
    // Programs that list only the pool in use list none while no pool answers.
    halt: report.halt ?? (hashrate === 0 && pools?.every(({ active }) => !active) ? noPoolAnswers : undefined),
    software: report.software,
    logInterval: report.logInterval ?? null,
    workUtility: null,
    ...(report.starting === undefined ? {} : { starting: report.starting }),
  };
}

function identityOf({ make, version, hostname = null, devices }: ProgramReport): Identity {
  return {
    ...unknownIdentity,
    make,
    model: modelOfCards(devices) ?? devices[0]?.name ?? null,
    firmware: version === null ? null : `${make} ${version}`,
    hostname,
  };
}

const sharesOf = (shares: RigReadings["shares"] | undefined, devices: readonly DeviceReading[]) => ({
  accepted: shares?.accepted ?? total(devices.map(({ accepted }) => accepted)),
  rejected: shares?.rejected ?? total(devices.map(({ rejected }) => rejected)),
  hardwareErrors: shares?.hardwareErrors ?? total(devices.map(({ hardwareErrors }) => hardwareErrors)),
});

/** The pool in use; empty if its URL is unknown. */
export function programPool({
  url,
  tls = null,
  worker,
  second = false,
  ...known
}: Partial<Omit<PoolReading, "url" | "worker" | "dual">> & {
  /** With or without a scheme. */
  readonly url: string | null;
  readonly worker: string | null;
  readonly tls?: boolean | null;
  /** Whether it is for the second algorithm. */
  readonly second?: boolean;
}): PoolReading[] {
  if (url === null) return [];
  const pool: PoolReading = {
    index: second ? 1 : 0,
    url: url.includes("://") ? url : `${tls === true ? "stratum+ssl" : "stratum+tcp"}://${url}`,
    worker: worker ?? "",
    status: "enabled",
    active: !second,
    priority: 0,
    quota: null,
    accepted: null,
    rejected: null,
    stale: null,
    devFee: false,
  };
  return [{ ...pool, ...known, ...(second ? { dual: true } : {}) }];
}

/** The login of a pool that takes wallet and worker apart. */
export function loginOf(user: string | null, worker: string | null): string | null {
  if (user === null || worker === null || user.endsWith(`.${worker}`)) return user ?? worker;
  return `${user}.${worker}`;
}

/** The first two entries of a program's algorithms; a note mentions any others. */
export function firstTwo<T>(algorithms: readonly T[], notes: Notes): [T | undefined, T | undefined] {
  const [first, second] = algorithms;
  if (algorithms.length > 2) notes.add(`it mines ${algorithms.length} algorithms; the first two are shown`);
  return [first, second];
}

/** The page of a program that is read. */
export interface ProgramPage {
  readonly path: string;
  /** Whether it is this program's, by fields that other programs do not have. */
  readonly isIts: (page: TolerantReader) => boolean;
  /** `now`: epoch ms. */
  readonly report: (page: TolerantReader, now: number) => ProgramReport;
  /** It contains passwords, so errors never quote it. */
  readonly isSecret?: true;
}

/**
 * Recognises a program by its page. Programs do not use the ports of rigs, so the page is requested only if the address
 * has a port.
 */
export function recognisePage(
  { root, pages, port }: Signs,
  { path, isIts, report }: ProgramPage,
): Partial<Identity> | Question | undefined {
  if (root === null || port === undefined) return undefined;
  if (path !== "/" && !Object.hasOwn(pages, path)) return { page: path };
  const page = pageIn(path === "/" ? root : pages[path]);
  return page !== undefined && isIts(page) ? identityOf(report(page, Date.now())) : undefined;
}

/** The object in an answer; undefined for anything else. */
function pageIn(sign: HttpSign | null | undefined): TolerantReader | undefined {
  if (sign === null || sign === undefined || sign.status >= 400) return undefined;
  const parsed = parseReply(sign.body);
  return "problem" in parsed ? undefined : new TolerantReader(parsed.value, new Notes(), "");
}

/** Reads a page. Throws `rig.garbled` if it is not this program's. */
export async function readPage(
  { http, now }: Pick<Link, "http" | "now">,
  { path, isIts, report, isSecret }: ProgramPage,
  signal: AbortSignal,
): Promise<{ readonly report: ProgramReport; readonly notes: Notes; readonly page: TolerantReader }> {
  const { value, notes: repairs } = await http.getJson(path, signal).catch((error: unknown) => {
    throw isSecret === true && error instanceof RigbridgeError ? unquoted(error) : error;
  });
  const notes = new Notes();
  notes.addAll(repairs);
  const page = new TolerantReader(value, notes, "");
  if (!isIts(page)) throw garbled(http.at, `GET ${path}: the reply is not that of this program`);
  return { report: report(page, now()), notes, page };
}

const unquoted = (error: RigbridgeError): RigbridgeError => new RigbridgeError(error.code, error.unquoted);

/** The driver of a read-only program with a single page. */
export function readOnlyProgram({
  id,
  name,
  evidence,
  ports,
  ...page
}: Pick<Driver, "id" | "name" | "evidence" | "ports"> & ProgramPage): Driver {
  return {
    id,
    name,
    evidence,
    ports,
    recognise: (signs) => recognisePage(signs, page),
    connect: (link) => new ReadOnlyProgram(link, page),
  };
}

/** A read-only program with a single page. */
export class ReadOnlyProgram implements Rig {
  readonly quick = true;
  readonly pools: PoolControls = {};
  readonly #link: Link;
  readonly #page: ProgramPage;

  constructor(link: Link, page: ProgramPage) {
    this.#link = link;
    this.#page = page;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const { report, notes } = await readPage(this.#link, this.#page, signal);
    return readingOf(report, notes);
  }

  async set(key: ControlKey): Promise<string> {
    throw new RigbridgeError("control.absent", detail("control.readOnly", { control: key }));
  }

  close(): void {
    this.#link.http.close();
  }
}
