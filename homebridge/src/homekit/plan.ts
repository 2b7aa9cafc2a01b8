import type { CharacteristicValue, HAP } from "homebridge";
import type { PropertyKey } from "rigbridge";
import type { Information } from "../accessory-texts.ts";
import type { CommandRequest } from "../send-command.ts";
import type { VisibleRig } from "../visible-farm.ts";

/** A HomeKit accessory as data: pure functions make it from the farm, and `AccessoryBinding` applies it. */
export interface AccessoryPlan {
  /** Its identity for ever: `rig:<uid>`, `group:<id>`, `rule:<id>`, `rigs` or `alarm`. Its UUID is made from it. */
  readonly key: string;
  /** Sanitised, like all names of a plan. */
  readonly name: string;
  readonly information: Information;
  /** `host:port` of the rig, which identifies it until its uid is known; null = not a rig. */
  readonly host: string | null;
  /** What it does when a controller asks it to identify itself, and what ends that; absent = nothing. */
  readonly identify?: { readonly begin: CommandRequest; readonly end: CommandRequest | null };
  /** The miner whose history the Eve app shows; absent = none. */
  readonly historyOf?: number;
  readonly services: readonly ServicePlan[];
}

export interface ServicePlan {
  readonly type: ServiceName | CustomService;
  /** Distinguishes services of the same type on an accessory; stable. */
  readonly subtype: string;
  /** Of its tile, until the owner gives it another one. */
  readonly name: string;
  readonly characteristics: readonly CharacteristicPlan[];
  /**
   * Unknown at present whether the rig has it: an existing service stays and does not respond, a missing one is not
   * added. Removing it would remove it from rooms, scenes and automations.
   */
  readonly isDoubtful?: boolean;
}

/** What shows one property of a rig: services with those of their characteristics that show it. */
export type PropertyPart = (rig: VisibleRig, key: PropertyKey) => readonly ServicePlan[];

export interface CharacteristicPlan {
  readonly type: CharacteristicName | CustomCharacteristic;
  /** In HomeKit's units; null = unknown, which a controller reads as "No Response". Never NaN. */
  readonly value: CharacteristicValue | null;
  /** Where they differ from those of the type; set before the value. */
  readonly props?: Props;
  /** The command for a value that a controller writes; absent = read-only. Throws `input.invalid`. */
  readonly requestFor?: (value: CharacteristicValue) => CommandRequest;
  /** The value returns to the present one once the command is done: HomeKit has no buttons. */
  readonly springsBack?: boolean;
}

export interface Props {
  readonly minValue?: number;
  readonly maxValue?: number;
  readonly minStep?: number;
  readonly validValues?: number[];
}

/** A service that HAP does not have, as the Eve app reads it. */
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
