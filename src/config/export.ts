import { Document, isPair, isScalar, visit } from "yaml";
import { isRecord } from "../contract/record.ts";
import { isMarked } from "../contract/secrets.ts";
import { descriptionAt } from "./json-schema.ts";

/** A saved section. */
export interface ExportedSection {
  readonly key: string;
  readonly value: unknown;
}

const width = 110;

/**
 * Sections as a part of a configuration file, with the meaning of each key. Secrets are left to environment variables,
 * whose names are returned.
 */
export function exportedYaml(sections: readonly ExportedSection[]): { text: string; variables: string[] } {
  const variables = new Set<string>();
  const values = Object.fromEntries(
    sections.map(({ key, value }) => [key, withVariables(value, [key], (name) => variables.add(name))]),
  );
  if (sections.length === 0) return { text: "# Nothing was saved in the dashboard or over the API.\n", variables: [] };
  const document = new Document(values);
  visit(document, {
    Pair(_, pair, ancestors) {
      const path = pathOf([...ancestors, pair]);
      const text = descriptionAt(path);
      if (text !== null && isScalar(pair.key)) pair.key.commentBefore = wrapped(text, path.length);
    },
  });
  return { text: document.toString({ lineWidth: 0 }), variables: [...variables] };
}

function withVariables(value: unknown, path: readonly string[], use: (name: string) => void): unknown {
  if (isMarked(value)) {
    const name = path
      .join("_")
      .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
      .replaceAll(/\W/g, "_")
      .toUpperCase();
    use(name);
    return `\${${name}}`;
  }
  // A literal that looks like a variable.
  if (typeof value === "string") return value.replaceAll("${", "$${");
  if (Array.isArray(value)) return value.map((each, index) => withVariables(each, [...path, String(index + 1)], use));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withVariables(each, [...path, key], use)]),
  );
}

/** The path of a pair, without list indexes. */
function pathOf(nodes: readonly unknown[]): string[] {
  return nodes.flatMap((node) => (isPair(node) && isScalar(node.key) ? [String(node.key.value)] : []));
}

function wrapped(text: string, depth: number): string {
  const longest = width - 2 * depth;
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length >= longest) {
      lines.push(line);
      line = "";
    }
    line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}
