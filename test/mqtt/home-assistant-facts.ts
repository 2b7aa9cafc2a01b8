import { readFileSync } from "node:fs";
import { z } from "zod";

// depends on: test/mqtt/home-assistant-facts.json

/**
 * What Home Assistant accepts as discovery: facts that `test/torture/home-assistant/facts.ts` derived from the schemas and
 * constants of the version they name. `npm run torture -- home-assistant` compares them with the version it installs.
 */
const file = new URL("home-assistant-facts.json", import.meta.url);

const Texts = z.array(z.string());
const Closed = z.object({ keys: Texts, required: Texts });
const Texted = z.record(z.string(), z.string());
/** null stands for no unit. */
const Units = z.record(z.string(), z.array(z.string().nullable()));

const Facts = z.strictObject({
  homeAssistant: z.string(),
  root: Closed,
  device: Closed,
  origin: Closed,
  availability: Closed,
  availabilityModes: Texts,
  /** What components take over from the root where they have none of their own. */
  shared: Texts,
  /** Of every entity, besides those of its platform. */
  entityKeys: Texts,
  /** The other platforms belong to a device but are not entities. */
  entityPlatforms: Texts,
  platforms: z.record(
    z.string(),
    z.object({
      /** null where it has several schemas to choose from. */
      keys: Texts.nullable(),
      required: Texts,
      /** The values that a key accepts. */
      values: z.record(z.string(), Texts),
      categories: Texts,
    }),
  ),
  sensorUnits: Units,
  sensorStateClasses: z.record(z.string(), Texts),
  stateClassUnits: Units,
  /** Device classes of sensors whose states are no numbers. */
  textClasses: Texts,
  numberUnits: Units,
  climateModes: Texts,
  climateActions: Texts,
  shortKeys: Texted,
  shortDeviceKeys: Texted,
  shortOriginKeys: Texted,
});

export const facts = Facts.parse(JSON.parse(readFileSync(file, "utf8")));
