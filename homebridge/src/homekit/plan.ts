import type { CharacteristicValue, HAP } from "homebridge";
import type { CommandRequest } from "../send-command.ts";

/**
 * Accessories of HomeKit as data: what the pure functions of this folder make of a farm, and what `ShownAccessory`
 * brings to Homebridge.
 */
export interface AccessoryPlan {
  /** What makes it itself for ever: `rig:<uid>`, `group:<id>`, `rigs`, `alarm`. Its UUID is made from it. */
  readonly key: string;
  /** Sanitised, as all names of a plan. */
  readonly name: string;
  readonly information: Information;
  /** `host:port` of the rig, by which it is known again before it has been identified; null = no rig. */
  readonly host: string | null;
  readonly services: readonly ServicePlan[];
}

export interface Information {
  readonly manufacturer: string;
  readonly model: string;
  readonly serial: string;
  readonly firmware: string;
}

export interface ServicePlan {
  readonly type: ServiceName | CustomService;
  /** What tells it from other services of the same type on this accessory; stable. */
  readonly subtype: string;
  readonly name: string;
  readonly characteristics: readonly CharacteristicPlan[];
  /** Nobody knows now whether the rig has it: where it is it stays, and does not respond; where it is not it is not made. */
  readonly isDoubtful?: boolean;
}

/** What may be there: who removes it from a home removes it from its rooms, scenes and automations. */
export const doubtful = (type: ServiceName, subtype: string, name: string): ServicePlan => ({
  type,
  subtype,
  name,
  characteristics: [],
  isDoubtful: true,
});

export interface CharacteristicPlan {
  readonly type: CharacteristicName | CustomCharacteristic;
  /** As HomeKit has it; null = nobody knows now, and who reads it is told so ("No Response"). Never NaN. */
  readonly value: CharacteristicValue | null;
  /** Where they differ from what the type has; set before the value. */
  readonly props?: Props;
  /** What is said to the rigs when somebody writes it; absent = it is only read. Throws `input.invalid`. */
  readonly sendCommand?: (value: CharacteristicValue) => CommandRequest;
  /** The value goes back to this as soon as what was written is done: a button, of which HomeKit knows none. */
  readonly springsBack?: boolean;
}

export interface Props {
  readonly minValue?: number;
  readonly maxValue?: number;
  readonly minStep?: number;
  readonly validValues?: number[];
}

/** What HAP does not have, as the app Eve reads it. */
export interface CustomService {
  readonly name: string;
  readonly uuid: string;
}

export interface CustomCharacteristic {
  readonly name: string;
  readonly uuid: string;
  readonly format: "float" | "uint16" | "uint32";
  /** For people; HomeKit has no units of power. */
  readonly unit: string;
}

/** The names of those static members of a class of HAP that are its subclasses. */
type Members<T> = {
  [K in keyof T]: T[K] extends { readonly UUID: string; new (): unknown } ? K : never;
}[keyof T] &
  string;

export type ServiceName = Members<HAP["Service"]>;
export type CharacteristicName = Members<HAP["Characteristic"]>;
