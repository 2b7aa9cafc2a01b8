import { parseArgs } from "node:util";
import { figures, type PartName, partNames } from "./figures.ts";

/** What the command line asks for. */
export interface Choice {
  readonly parts: readonly PartName[];
  readonly output: "table" | "json" | "markdown";
  /** Few rigs and short times. */
  readonly quick: boolean;
  readonly help: boolean;
}

/** Throws an Error that says what is wrong. */
export function choiceOf(args: string[]): Choice {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      markdown: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.filter((name) => !partNames.some((part) => part === name));
  if (unknown.length > 0)
    throw new Error(`There is no part ${unknown.join(", ")}; the parts are ${partNames.join(", ")}.`);
  return {
    parts: partNames.filter((name) => positionals.length === 0 || positionals.includes(name)),
    output: values.json ? "json" : values.markdown ? "markdown" : "table",
    quick: values.quick,
    help: values.help,
  };
}

export const usage = `npm run bench -- [part ...] [--quick] [--json | --markdown]

  part        some of ${partNames.join(", ")}; without any, all
  --quick     few rigs and short times, to try it out; the figures mean little
  --json      one object of figures on stdout, and nothing else; null = could not be measured
  --markdown  the table of docs/performance.md

${figures.map(({ name, part, meaning, unit }) => `  ${part.padEnd(8)} ${name.padEnd(29)} ${meaning} (${unit})`).join("\n")}
`;
