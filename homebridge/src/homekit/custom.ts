import type { Characteristic, HAP, Service } from "homebridge";
import type { CustomCharacteristic, CustomService } from "./plan.ts";

/** A service that HAP does not have. */
export const customService = (hap: HAP, { uuid }: CustomService, name: string, subtype: string): Service =>
  new hap.Service(name, uuid, subtype);

/** A characteristic that HAP does not have; it can be read and tells of changes. */
export function customCharacteristic(hap: HAP, { name, uuid, format, unit }: CustomCharacteristic): Characteristic {
  const { format: ofFormat, perms } = new (like(hap)[format])().props;
  return new hap.Characteristic(name, uuid, { format: ofFormat, unit, perms: [...perms] });
}

/** HAP's own of each format that can be read and tell of changes: the enums have no value to import. */
const like = ({ Characteristic: { CurrentAmbientLightLevel, HeartBeat, ThreadStatus } }: HAP) => ({
  float: CurrentAmbientLightLevel,
  uint16: ThreadStatus,
  uint32: HeartBeat,
});
