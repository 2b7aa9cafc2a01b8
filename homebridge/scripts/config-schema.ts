import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { Settings } from "../src/config/schema.ts";
import { platformName } from "../src/names.ts";

/**
 * What stands in `config.schema.json`, from which Homebridge makes the form of the settings:
 * `node homebridge/scripts/config-schema.ts --write` writes it, `npm run format` puts it in shape.
 */
export function configSchema(): object {
  const { $schema: _, ...schema } = z.toJSONSchema(Settings, { io: "input", target: "draft-7", override });
  return {
    pluginAlias: platformName,
    pluginType: "platform",
    singular: false,
    customUi: true,
    headerDisplay: "Rigs of a service elsewhere, or rigs by their addresses, which the plugin then reads itself.",
    schema,
  };
}

/** A form sends back what it does not show, as `platform`; what is no key is found when Homebridge starts. */
function override({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href && process.argv[2] === "--write")
  writeFileSync(join(import.meta.dirname, "../config.schema.json"), `${JSON.stringify(configSchema(), null, 2)}\n`);
