import type { Control, RigReadings } from "../../contract/readings.ts";
import type { Reading } from "../../link/driver.ts";
import type { Brief, Remembered, RigState } from "../state.ts";

/**
 * The state of a rig as sent by a worker thread: twelve figures with each read, the shape if anything in it has
 * changed, and the reading as JSON, which is decoded only on request.
 */

/** The rarely changing parts of a state and of its reading. */
export interface Shape
  extends Omit<Remembered, "energy" | "startedAt">,
    Pick<RigState, "trouble" | "restarting">,
    Pick<Brief, "pools" | "devices"> {
  readonly algorithm: string | null;
  readonly powerSource: RigReadings["powerSource"];
  /** Present for few rigs. */
  readonly rare?: Pick<Brief, "locked" | "starting"> & Partial<Pick<RigReadings, "dual">>;
}

export function shapeOf(state: RigState): Shape {
  const { uid, driver, identity, software, controls, layout, reason, records, trouble, restarting, reading } = state;
  return {
    uid,
    driver,
    identity,
    software,
    controls,
    layout,
    reason,
    records,
    trouble,
    restarting,
    ...(reading === null ? {} : rareOf(reading)),
    algorithm: reading?.readings.algorithm ?? null,
    powerSource: reading?.readings.powerSource ?? null,
    pools:
      reading?.pools.map(({ url, worker, active, dual }) => ({ url, worker, active, ...(dual ? { dual } : {}) })) ?? [],
    devices: reading?.devices.map(({ kind }) => ({ kind })) ?? [],
  };
}

/** The shape as JSON in two texts: the rig's own part, and the part that rigs of one model have in common. */
export function writeShape({ controls, layout, software, driver, devices, ...rest }: Shape): ShapeTexts {
  const { algorithm, powerSource, ...own } = rest;
  return [JSON.stringify(own), JSON.stringify({ controls, layout, software, driver, devices, algorithm, powerSource })];
}
export type ShapeTexts = readonly [own: string, common: string];

type Common = Pick<Shape, "controls" | "layout" | "software" | "driver" | "devices" | "algorithm" | "powerSource">;

/** Each common text is decoded once, and its value shared by all rigs with it. */
const commons = new Map<string, Common>();
const commonsAtMost = 1_000;

export function readShape([ownText, commonText]: ShapeTexts): Shape {
  const own: Omit<Shape, keyof Common> = JSON.parse(ownText);
  const known = commons.get(commonText);
  if (known !== undefined) return { ...own, ...known };
  const common: Common = JSON.parse(commonText);
  if (commons.size >= commonsAtMost) commons.clear();
  commons.set(commonText, common);
  return { ...own, ...common };
}

function rareOf({ locked, starting, readings: { dual } }: Reading): Pick<Shape, "rare"> {
  if (locked === undefined && starting === undefined && dual === null) return {};
  return {
    rare: {
      ...(locked === undefined ? {} : { locked }),
      ...(starting === undefined ? {} : { starting }),
      ...(dual === null ? {} : { dual }),
    },
  };
}

/** Figures of one rig; NaN stands for null. */
export const figuresOfOne = 12;

export function writeFigures(state: RigState, to: Float64Array, offset: number): void {
  const { at, missed, energy, startedAt, hashingSince, reading } = state;
  const readings = reading?.readings;
  const mining = readings?.mining ?? null;
  const figures = [
    at,
    missed,
    energy,
    startedAt,
    hashingSince,
    readings?.hashrate,
    readings?.hashrateAverage,
    readings?.hashrateExpected,
    readings?.power,
    readings?.temperature,
    readings?.uptime,
    mining === null ? null : Number(mining),
  ];
  for (let index = 0; index < figuresOfOne; index += 1) to[offset + index] = figures[index] ?? Number.NaN;
}

/** The reading without the parts in the shape. Throws if the reading cannot be processed. */
export const bodyOf = (reading: Reading): string => JSON.stringify({ ...reading, controls: undefined });

type Body = Omit<Reading, "controls">;

export function readingOf(body: Uint8Array, controls: readonly Control[], uptime: number | null): Reading {
  const decoded: Body = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
  const { readings } = decoded;
  return { ...decoded, controls, readings: readings.uptime === uptime ? readings : { ...readings, uptime } };
}

function figureAt(figures: Float64Array, index: number): number | null {
  const value = figures[index];
  return value === undefined || Number.isNaN(value) ? null : value;
}

export class RemoteState implements RigState {
  readonly uid: Shape["uid"];
  readonly driver: Shape["driver"];
  readonly identity: Shape["identity"];
  readonly software: Shape["software"];
  readonly controls: Shape["controls"];
  readonly layout: Shape["layout"];
  readonly reason: Shape["reason"];
  readonly records: Shape["records"];
  readonly trouble: Shape["trouble"];
  readonly restarting: boolean;
  readonly at: number | null;
  readonly missed: number;
  readonly energy: number | null;
  readonly startedAt: number | null;
  readonly hashingSince: number | null;
  readonly brief: Brief | null;
  readonly #body: Uint8Array | null;
  #reading: Reading | null = null;

  constructor(shape: Shape, body: Uint8Array | null, figures: Float64Array, offset: number) {
    this.uid = shape.uid;
    this.driver = shape.driver;
    this.identity = shape.identity;
    this.software = shape.software;
    this.controls = shape.controls;
    this.layout = shape.layout;
    this.reason = shape.reason;
    this.records = shape.records;
    this.trouble = shape.trouble;
    this.restarting = shape.restarting;
    this.at = figureAt(figures, offset);
    this.missed = figureAt(figures, offset + 1) ?? 0;
    this.energy = figureAt(figures, offset + 2);
    this.startedAt = figureAt(figures, offset + 3);
    this.hashingSince = figureAt(figures, offset + 4);
    this.#body = body;
    const mining = figureAt(figures, offset + 11);
    const { dual = null, ...rare } = shape.rare ?? {};
    this.brief = body && {
      readings: {
        hashrate: figureAt(figures, offset + 5),
        hashrateAverage: figureAt(figures, offset + 6),
        hashrateExpected: figureAt(figures, offset + 7),
        power: figureAt(figures, offset + 8),
        temperature: figureAt(figures, offset + 9),
        uptime: figureAt(figures, offset + 10),
        mining: mining === null ? null : mining === 1,
        algorithm: shape.algorithm,
        powerSource: shape.powerSource,
        dual,
      },
      controls: shape.controls,
      pools: shape.pools,
      devices: shape.devices,
      ...rare,
    };
  }

  get reading(): Reading | null {
    if (this.#body === null || this.brief === null) return null;
    this.#reading ??= readingOf(this.#body, this.controls, this.brief.readings.uptime);
    return this.#reading;
  }
}
