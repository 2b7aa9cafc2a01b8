import type { ManualAction } from "../../contract/resources.ts";
import { type DisplayUnit, type MinerWithUid, minerState } from "../miner-state.ts";
import type { Topics } from "../topics.ts";
import {
  type Components,
  connectivity,
  type DeviceConfig,
  type DeviceInfo,
  eventEntity,
  minerEventTypes,
  originName,
} from "./component.ts";
import { entitiesOf, type PreviousComponents, type Subject } from "./entities.ts";
import { entityIdOf, slugOf } from "./object-ids.ts";

/** Common data of all devices of a bridge. */
export interface DeviceContext extends Pick<Subject, "currency" | "detail" | "pools"> {
  /** First levels of every topic; two bridges on one broker need different ones. */
  readonly base: string;
  readonly topics: Topics;
  readonly version: string;
  readonly farmName: string;
  /** Manual rules of the service. */
  readonly rules: readonly ManualAction[];
  /** URL of the service, for people. */
  readonly page?: string;
  /** First parts of the ids of entities, by device; a missing device uses its name or id. */
  readonly objectIds: ReadonlyMap<string, string>;
}

export interface Place {
  /** Id of the device it is connected through; null for none. */
  readonly via: string | null;
  /** Name of the room that the miner is in; null for none. */
  readonly area: string | null;
}

/** Ids of devices, also used in their discovery topics. A uid has no underscore, so ids never collide. */
export const minerId = (base: string, uid: string): string => `${root(base)}_miner_${uid}`;
export const groupId = (base: string, id: number): string => `${root(base)}_group_${id}`;
export const farmId = (base: string): string => `${root(base)}_farm`;
export const facilityId = (base: string, key: string): string => `${root(base)}_facility_${key}`;
export const isFacilityId = (base: string, id: string): boolean => id.startsWith(facilityId(base, ""));
export const siteId = (base: string, uid: string): string => `${root(base)}_site_${uid}`;
export const isSiteId = (base: string, id: string): boolean => id.startsWith(siteId(base, ""));
export const curtailmentId = (base: string): string => `${root(base)}_curtailment`;
export const bridgeId = (base: string): string => `${root(base)}_bridge`;
const root = (base: string): string => base.replaceAll("/", "_");

/** Whether a device's id is one of those above. */
export const isOwnId = (base: string, id: string): boolean =>
  id.startsWith(`${root(base)}_`) &&
  /^(farm|bridge|curtailment|group_\d+|miner_[a-z0-9-]+|facility_[a-z0-9_-]+|site_[a-z0-9-]+)$/.test(
    id.slice(root(base).length + 1),
  );

/** The device of a miner, with an entity for each property it reports or control it has. */
export function deviceConfig(
  miner: MinerWithUid,
  display: DisplayUnit | null,
  { via, area }: Place,
  previous: PreviousComponents,
  context: DeviceContext,
): DeviceConfig {
  const { currency, detail, pools } = context;
  const topics = context.topics.miner(miner.uid);
  const { name, hardware, softwareType, macAddress, identity } = miner;
  const firmware = identity?.firmware ?? softwareType;
  const subject = {
    miner,
    topics,
    currency,
    detail,
    pools,
    previous,
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
        ...(miner.id < firstExternalId ? {} : pageOf(miner.hostDescription)),
      },
      state: topics.state,
      availability: topics.availability,
      components: {
        ...entitiesOf(subject),
        connectivity: connectivity(topics.availability, context.topics.state),
        event: eventEntity(topics.event, minerEventTypes, { name: "Event", icon: "mdi:bell" }),
      },
    },
    context,
  );
}

export interface DeviceParts {
  readonly id: string;
  readonly info: Omit<DeviceInfo, "identifiers">;
  /** The topics of its state, and of its own availability in addition to the bridge's. */
  readonly state: string;
  readonly availability: string | null;
  readonly components: Components;
}

export function device(
  { id, info, state, availability, components }: DeviceParts,
  context: DeviceContext,
): DeviceConfig {
  const objectId = context.objectIds.get(id) ?? slugOf(info.name) ?? id;
  return {
    device: { identifiers: [id], ...info },
    origin: { name: originName, sw_version: context.version },
    availability: [{ topic: context.topics.state }, ...(availability === null ? [] : [{ topic: availability }])],
    availability_mode: "all",
    state_topic: state,
    components: Object.fromEntries(
      Object.entries(components).map(([key, component]) => {
        // Home Assistant puts the area before ids that it generates.
        const entityId = entityIdOf(component.platform, objectId, component.name);
        return [key, { ...component, unique_id: `${id}_${key}`, default_entity_id: entityId }];
      }),
    ),
  };
}

const macOf = (digits: string): string => digits.toLowerCase().replace(/(..)(?=.)/g, "$1:");

/** Managed miners have smaller ids. Their address is only the name of their host, which has no page. */
const firstExternalId = 1_000_000_001;

/** Ports of miners' APIs, which are not web pages: the page of such a rig is at the default port. */
const apiPorts = ["4028", "4433"];

/** The rig's own web page, if its address is valid in a URL. */
function pageOf(address: string): { configuration_url?: string } {
  const url = URL.canParse(`http://${address}`) ? new URL(`http://${address}`) : null;
  if (url === null || url.hostname === "") return {};
  const { hostname, host, port } = url;
  if (port === "443") return { configuration_url: `https://${hostname}` };
  return { configuration_url: `http://${apiPorts.includes(port) ? hostname : host}` };
}
