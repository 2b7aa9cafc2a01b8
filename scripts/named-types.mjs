import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Types of fewer characters are as short as their names. */
const shortest = 200;

/**
 * Names the schemas in the declarations of a folder. TypeScript writes the type of an exported schema out in each that contains
 * it; here it becomes `typeof` the schema, which is the same type and a sixth of these declarations.
 */
export function nameTypes(folder) {
  const files = readdirSync(folder).filter((file) => file.endsWith(".d.ts"));
  const texts = new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
  const declared = /^export declare const (\w+): ([\s\S]*?);\n(?=[^\t }\]>])/gm;
  const schemas = [...texts].flatMap(([file, text]) =>
    Array.from(text.matchAll(declared), ([, name, type]) => ({ file, name, type })),
  );
  // The longest first: they contain others.
  for (const { file, name, type } of schemas.sort((one, other) => other.type.length - one.type.length)) {
    if (type.length < shortest) break;
    const written = new RegExp(type.split(/\n\t*/).map(escaped).join("\\n\\t*"), "g");
    for (const [other, text] of texts) {
      const own = `export declare const ${name}: `;
      const named = other === file ? `typeof ${name}` : `typeof import("./${file.replace(/d\.ts$/, "ts")}").${name}`;
      const isDeclaration = (at) => text.slice(0, at).endsWith(own);
      texts.set(
        other,
        text.replace(written, (found, at) => (isDeclaration(at) ? found : named)),
      );
    }
  }
  for (const [file, text] of texts) writeFileSync(join(folder, file), withoutDefaults(text));
}

/** What a type parameter is by default, and texts for people, which are types of their own only because they are constants. */
const withoutDefaults = (text) =>
  text
    .replaceAll(/z\.ZodType<([\w[\]]+), unknown, z\.core\.\$ZodTypeInternals<\1, unknown>>/g, "z.ZodType<$1>")
    .replaceAll(/readonly summary: "(?:[^"\\]|\\.)*";/g, "readonly summary: string;");

const escaped = (line) => line.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
