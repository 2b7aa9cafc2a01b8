import type { FacilityDeviceState } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import type { Announcer } from "./announcer.ts";
import { caller } from "./command-inbox.ts";
import { PolledTopics, type PolledTopicsOptions } from "./polled-topics.ts";
import type { Topics } from "./topics.ts";

export interface FacilityTopicsOptions extends PolledTopicsOptions {
  readonly service: Pick<MiningService, "listFacility">;
  readonly topics: Topics;
  readonly announcer: Pick<Announcer, "facility"> | null;
}

/** Publishes the facility devices. */
export class FacilityTopics extends PolledTopics {
  readonly #options: FacilityTopicsOptions;

  constructor(options: FacilityTopicsOptions) {
    super(options, "listFacility");
    this.#options = options;
  }

  protected async readAndPublish(isOffered: boolean): Promise<void> {
    const { service, topics, announcer } = this.#options;
    const devices = isOffered ? await service.listFacility({}, caller) : [];
    // The devices of other sites have a slash in their keys, and are published there.
    const own = devices.filter(({ key }) => !/[^a-z0-9_-]/.test(key));
    for (const key of this.removedFrom(own.map((each) => each.key))) {
      const { state, availability } = topics.facility(key);
      for (const topic of [state, availability]) this.empty(topic);
    }
    announcer?.facility(own);
    for (const device of own) {
      const { state, availability } = topics.facility(device.key);
      this.publishState(state, JSON.stringify(facilityState(device)));
      const isAway = device.state === "silent" || device.state === "unread";
      this.publishAvailability(availability, isAway ? "offline" : "online");
    }
  }
}

/** The content of a state topic; a reading that is not known is null. Without the age, which would change each time. */
export function facilityState({ name, kind, state, problem, place, readings, outlets }: FacilityDeviceState): object {
  const { on, ...figures } = readings;
  const switched = Object.fromEntries(outlets.map((outlet) => [`outlet_${outlet.n}`, onOff(outlet.on)]));
  return { name, kind, state, problem, place, ...figures, on: onOff(on), ...switched };
}

const onOff = (on: boolean | null): "ON" | "OFF" | null => (on === null ? null : on ? "ON" : "OFF");
