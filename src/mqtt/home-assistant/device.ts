import type { Miner } from "../../contract/resources.ts";
import { minerEventTypes } from "../event-types.ts";
import { type DisplayUnit, minerState } from "../miner-state.ts";
import type { Topics } from "../topics.ts";
import {
  type Components,
  connectivity,
  type DeviceConfig,
  type DeviceInfo,
  happening,
  originName,
} from "./component.ts";
import { type Before, entitiesOf } from "./entities.ts";

/** What all devices of a bridge have in common. */
export interface DeviceContext {
  /** First levels of every topic; two bridges at one broker have different ones. */
  readonly base: string;
  readonly topics: Topics;
  readonly version: string;
  /** Display currency, "SEK"; null while it is not known. */
  readonly currency: string | null;
  /** Boards, fans and shares are switched on from the start. */
  readonly detail: boolean;
  /** Names of the pools that rigs can be sent to, beside those that they list; null while they are not known. */
  readonly pools: readonly string[] | null;
}

/** Where a miner's device stands among the others. */
export interface Place {
  /** Id of the device that it hangs on; null for none. */
  readonly via: string | null;
  /** Name of the miner's group; null for none. */
  readonly area: string | null;
}

export type KnownMiner = Miner & { readonly uid: string };

/** Ids of devices, also in their discovery topics. A uid has no underscore, so no two are alike. */
export const minerId = (base: string, uid: string): string => `${root(base)}_miner_${uid}`;
export const groupId = (base: string, id: number): string => `${root(base)}_group_${id}`;
export const farmId = (base: string): string => `${root(base)}_farm`;
const root = (base: string): string => base.replaceAll("/", "_");

/** The device of a miner, with an entity for each thing that it says or can be told. */
export function deviceConfig(
  miner: KnownMiner,
  display: DisplayUnit | null,
  { via, area }: Place,
  before: Before,
  context: DeviceContext,
): DeviceConfig {
  const { currency, detail, pools } = context;
  const topics = context.topics.miner(miner.uid);
  const { name, hardware, softwareType, macAddress, identity } = miner;
  const firmware = identity?.firmware ?? softwareType;
  const subject = {
    ...{ miner, topics, currency, detail, pools, before },
    state: minerState(miner, display),
    hashrateUnit: display?.name ?? null,
  };
  return device(
    {
      id: minerId(context.base, miner.uid),
      info: {
        name,
        ...(/^[0-9a-f]{12}$/i.test(macAddress) ? { connections: [["mac", macOf(macAddress)]] } : {}),
        ...(identity?.make == null ? {} : { manufacturer: identity.make }),
        ...(hardware === "" ? {} : { model: hardware }),
        ...(identity?.serial == null ? {} : { serial_number: identity.serial }),
        ...(firmware === "" ? {} : { sw_version: firmware }),
        ...(via === null ? {} : { via_device: via }),
        ...(area === null ? {} : { suggested_area: area }),
        ...pageOf(miner.hostDescription),
      },
      state: topics.state,
      availability: topics.availability,
      components: {
        ...entitiesOf(subject),
        connectivity: connectivity(topics.availability, context.topics.state),
        event: happening(topics.event, minerEventTypes, { name: "Event", icon: "mdi:bell" }),
      },
    },
    context,
  );
}

/** What a device is made of. */
export interface Parts {
  readonly id: string;
  readonly info: Omit<DeviceInfo, "identifiers">;
  /** The topic of its state, and of its own availability beside that of the bridge. */
  readonly state: string;
  readonly availability: string | null;
  readonly components: Components;
}

export function device({ id, info, state, availability, components }: Parts, context: DeviceContext): DeviceConfig {
  return {
    device: { identifiers: [id], ...info },
    origin: { name: originName, sw_version: context.version },
    availability: [{ topic: context.topics.state }, ...(availability === null ? [] : [{ topic: availability }])],
    availability_mode: "all",
    state_topic: state,
    components: Object.fromEntries(
      Object.entries(components).map(([key, component]) => [key, { ...component, unique_id: `${id}_${key}` }]),
    ),
  };
}

const macOf = (digits: string): string => digits.toLowerCase().replace(/(..)(?=.)/g, "$1:");

/** The rig's own page, where its address makes one. */
function pageOf(address: string): { configuration_url?: string } {
  const url = URL.canParse(`http://${address}`) ? new URL(`http://${address}`) : null;
  return url === null || url.hostname === "" ? {} : { configuration_url: `http://${url.hostname}` };
}
