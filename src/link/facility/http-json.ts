import { type FacilityQuantity, facilityQuantities, type HttpJsonDevice } from "../../contract/facility-settings.ts";
import { hostIn, portIn } from "../address.ts";
import { onIn } from "../on-words.ts";
import { valueAt } from "../quantity.ts";
import { httpTransport } from "../transports/http.ts";
import { type FacilityLink, type Measured, plausibleRanges } from "./facility-link.ts";
import { numberOrProblem } from "./values.ts";

/** A device that answers with JSON at a web address; it is only read. */
export function httpJsonDevice({ url, headers, paths }: HttpJsonDevice): FacilityLink {
  const address = new URL(url);
  const http = httpTransport(hostIn(address), portIn(address), address.protocol === "https:");
  return {
    at: http.at,
    ranges: plausibleRanges,
    read: async (signal) => {
      const { value: json } = await http.getJson(`${address.pathname}${address.search}`, signal, headers);
      const values = new Map<FacilityQuantity, Measured>();
      for (const quantity of facilityQuantities) {
        const path = paths[quantity];
        if (path !== undefined) values.set(quantity, numberOrProblem(valueAt(json, path), path));
      }
      return { values, on: paths.on === undefined ? null : onIn(valueAt(json, paths.on)), outlets: [] };
    },
    close: () => http.close(),
  };
}
