import type { Command } from "commander";
import type { SignalView } from "../contract/signals.ts";
import { type Colour, inColour, isColoured } from "./colours.ts";
import { failing } from "./failure.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { fittedTable } from "./table.ts";

interface SignalsOptions extends ServiceOptions {
  readonly json?: true;
}

export function signalsCommand(): Command {
  return serviceCommand("signals", "rigbridge signals")
    .description("Lists the signals that begin and end curtailments of a running service.")
    .option("--json", "print the answer of GET /api/signals")
    .action(failing(signals));
}

async function signals({ json, ...options }: SignalsOptions): Promise<void> {
  const listed = await withService(options, (service) => service.listSignals({}, caller));
  if (json) console.log(JSON.stringify(listed, null, 2));
  else if (listed.length === 0) console.log("There are no signals; the section signals declares them.");
  else console.log(signalTable(listed, isColoured(process.stdout)).join("\n"));
}

const heads = ["Signal", "Plan", "Kind", "State", "Value", "Age", "Curtailment", "Problem"];
const [nameColumn, stateColumn, valueColumn, problemColumn] = [0, 3, 4, 7];
const colours: Partial<Record<string, Colour>> = { stale: "red", curtail: "yellow" };

/** Signals as lines of a table, the heads first, at most 80 columns. */
export function signalTable(listed: readonly SignalView[], coloured: boolean): string[] {
  const rows = listed.map(({ name, plan, kind, state, value, age, curtailment, problem }) => [
    name,
    plan,
    kind,
    state,
    String(value ?? ""),
    age === null ? "" : `${age} s`,
    String(curtailment ?? ""),
    problem ?? "",
  ]);
  const paint = (cell: string, row: number, column: number): string => {
    const colour = column === stateColumn ? colours[listed[row]?.state ?? ""] : undefined;
    return colour === undefined ? cell : inColour(colour, cell);
  };
  const flexible = [nameColumn, valueColumn, problemColumn];
  return fittedTable(heads, rows, { flexible, ...(coloured ? { paint } : {}) });
}
