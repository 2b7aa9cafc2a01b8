import type { Place } from "../../contract/place-operations.ts";
import { type DeviceConfig, diagnostic, measurement, power, sensor } from "./component.ts";
import { type DeviceContext, device, farmId, siteId } from "./device.ts";

const count = (field: string, name: string, icon: string) =>
  sensor(field, { name, icon, ...measurement, ...diagnostic });

const components = {
  power: sensor("power", { name: "Power", ...power, ...measurement }),
  mining: count("mining", "Rigs mining", "mdi:pickaxe"),
  rigs: count("rigs", "Rigs", "mdi:server"),
  alarms: count("alarms", "Alarms", "mdi:alarm-light"),
};

/** The device of a site, with the sums of its rigs. Smaller places are no devices: a farm has hundreds of racks. */
export const siteConfig = ({ uid, name }: Pick<Place, "uid" | "name">, context: DeviceContext): DeviceConfig =>
  device(
    {
      id: siteId(context.base, uid),
      info: { name, model: "Site", via_device: farmId(context.base) },
      state: context.topics.place(uid),
      availability: null,
      components,
    },
    context,
  );
