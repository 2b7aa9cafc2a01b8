import type { FacilityQuantity } from "../../contract/facility-settings.ts";
import type { Messages } from "../../contract/messages.ts";

/** One value of a device: the number, or why there is none that can be believed. */
export type Measured = { readonly value: number } | { readonly problem: string };

export interface OutletState {
  readonly n: number;
  /** null: unknown. */
  readonly on: boolean | null;
  /** W; null if the PDU does not measure its outlets. */
  readonly power: number | null;
}

/** What one read of a device brings, before it is judged. */
export interface RawReading {
  /** In W, kWh, V, A and °C; a quantity that the device does not have is absent. */
  readonly values: ReadonlyMap<FacilityQuantity, Measured>;
  /** Whether it runs; null: unknown, or it cannot say. */
  readonly on: boolean | null;
  readonly outlets: readonly OutletState[];
}

/** The lowest and highest plausible value of a quantity. */
export interface PlausibleRange {
  readonly min: number;
  readonly max: number;
}

/** A device of the building. Calls never overlap; a write is sent once. */
export interface FacilityLink {
  /** host:port or the like, for messages. */
  readonly at: string;
  readonly ranges: Readonly<Record<FacilityQuantity, PlausibleRange>>;
  /** Throws `rig.unreachable`, `rig.timeout`, `rig.garbled`, `rig.refused` or `rig.login`, naming the device. */
  read(signal: AbortSignal): Promise<RawReading>;
  /** Switches a fan. Throws the same; resolves once the device has accepted it. Absent: it cannot be switched. */
  run?(on: boolean, signal: AbortSignal): Promise<void>;
  /** Switches an outlet; like `run`. */
  switchOutlet?(n: number, on: boolean, signal: AbortSignal): Promise<void>;
  /** Cancels open exchanges. */
  close(): void;
}

export interface FacilityContext {
  /** For devices over MQTT. */
  readonly messages: Messages;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Plausible for any device of a mining farm; registers and OIDs may have narrower ones. */
export const plausibleRanges: Readonly<Record<FacilityQuantity, PlausibleRange>> = {
  power: { min: -100_000_000, max: 100_000_000 },
  energy: { min: 0, max: 1e10 },
  voltage: { min: 0, max: 100_000 },
  current: { min: -20_000, max: 20_000 },
  temperature: { min: -60, max: 200 },
};

/** The ranges with those of some registers or OIDs. */
export const rangesWith = (
  limits: readonly { readonly reading: string; readonly min?: number | undefined; readonly max?: number | undefined }[],
): Readonly<Record<FacilityQuantity, PlausibleRange>> => {
  const rangeOf = (quantity: FacilityQuantity): PlausibleRange => {
    const own = limits.find(({ reading }) => reading === quantity);
    return { min: own?.min ?? plausibleRanges[quantity].min, max: own?.max ?? plausibleRanges[quantity].max };
  };
  return {
    power: rangeOf("power"),
    energy: rangeOf("energy"),
    voltage: rangeOf("voltage"),
    current: rangeOf("current"),
    temperature: rangeOf("temperature"),
  };
};
