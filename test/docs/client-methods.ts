import { z } from "zod";
import { type Operation, operationNames, operations } from "../../src/contract/operations.ts";
import { reference } from "../../src/http/openapi-schemas.ts";

/** The table of methods in client/README.md, from the table of operations. */
export const methodsTable = (): string =>
  [
    "| method | parameters | result | acts | needs |",
    "| --- | --- | --- | --- | --- |",
    ...operationNames.map((name) => {
      const operation: Operation = operations[name];
      const { kind, method, summary, reply, access } = operation;
      const result = kind === "stream" ? `stream of \`${nameOf(reply)}\`` : `\`${nameOf(reply)}\``;
      const cells = [
        `**${name}**: ${summary}`,
        parametersOf(operation)
          .map((each) => `\`${each}\``)
          .join(", "),
        result,
        method === "GET" ? "" : "yes",
        access.privilege,
      ];
      return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    }),
  ].join("\n");

/** The page with the table as it is now. */
export const withMethods = (page: string): string =>
  page.replace(/^\| method \| parameters .*\n(?:\|.*\n)+/m, () => `${methodsTable()}\n`);

/** They are for replies as CSV, which the client does not read. */
const ofTables = ["format", "units", "bom"];

/** With `?` if the type allows to leave it out. */
function parametersOf({ params = {}, query, body, csv }: Operation): string[] {
  const fields = [params, shapeOf(query), shapeOf(body)].flatMap((shape) => Object.entries(shape));
  const read = fields.filter(([name]) => csv === undefined || !ofTables.includes(name));
  return read.map(([name, schema]) => {
    const missing = z.safeParse(schema, undefined);
    return missing.success && missing.data === undefined ? `${name}?` : name;
  });
}

function shapeOf(schema: z.ZodType | undefined): Readonly<Record<string, z.core.$ZodType>> {
  if (schema === undefined) return {};
  if (schema instanceof z.ZodObject) return schema.shape;
  throw new Error("A query or body is not an object: its parameters cannot be listed");
}

/** As /openapi.json names it; one without a name by its fields. */
function nameOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodArray) return `${nameOf(schema.element)}[]`;
  const [, name = ""] = /([^/]*)$/.exec(String(schema instanceof z.ZodType ? reference(schema).$ref : "")) ?? [];
  const isNamed = name !== "" && !operationNames.some((each) => name.toLowerCase() === `${each}reply`.toLowerCase());
  if (isNamed || !(schema instanceof z.ZodObject)) return name;
  return `{ ${Object.keys(schema.shape).join(", ")} }`;
}
