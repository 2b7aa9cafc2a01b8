import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { Settings } from "../src/config/schema.ts";
import { platformName } from "../src/names.ts";

/**
 * The contents of `config.schema.json`, from which Homebridge makes the settings form.
 * `node homebridge/scripts/config-schema.ts --write` writes the file, `npm run format` formats it.
 */
export function configSchema(): object {
  const { $schema: _, ...schema } = z.toJSONSchema(Settings, { io: "input", target: "draft-7", override });
  return {
    pluginAlias: platformName,
    pluginType: "platform",
    singular: false,
    customUi: true,
    headerDisplay: "The plugin reads rigs by their addresses, or takes them from an existing service.",
    schema,
  };
}

/** A form also sends keys that it does not show, like `platform`; unknown keys are found when Homebridge starts. */
function override({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href && process.argv[2] === "--write")
  writeFileSync(join(import.meta.dirname, "../config.schema.json"), `${JSON.stringify(configSchema(), null, 2)}\n`);
