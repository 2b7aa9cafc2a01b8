import { Command } from "commander";
import { isDatabaseUrl } from "../config/database-url.ts";
import { withEnvironment } from "../config/environment.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { CopiedStore, CopyProgress, StorePlace } from "../store/index.ts";
import { failing } from "./failure.ts";
import { examples } from "./service-options.ts";
import { counted, table } from "./table.ts";

const database = `'postgres://rig:\${STORE_PASSWORD}@db:5432/rigbridge'`;

export function storeCommand(): Command {
  const store = new Command("store")
    .description("Moves the store of a service to another file or database.")
    .addHelpText("after", examples(`rigbridge store copy rigbridge.db ${database}`));
  store
    .command("copy")
    .description(
      "Copies everything of a store to a new one, from an SQLite file to a PostgreSQL database or back, and compares them. " +
        "No service may use either.",
    )
    .argument("<from>", "SQLite file, or URL of a PostgreSQL database; it stays as it is")
    .argument("<to>", "new SQLite file, or URL of a PostgreSQL database without a store")
    .addHelpText(
      "after",
      "\nOther users of this machine can see the arguments of a command. A name in braces after a dollar sign, in quotes\n" +
        "as below, stands for an environment variable, as in the configuration.",
    )
    .addHelpText(
      "after",
      examples(
        `rigbridge store copy /var/lib/rigbridge/rigbridge.db ${database}`,
        `rigbridge store copy ${database} /var/lib/rigbridge/rigbridge.db`,
      ),
    )
    .action(failing(copy));
  return store;
}

async function copy(fromText: string, toText: string): Promise<void> {
  const from = placeOf("<from>", fromText);
  const to = placeOf("<to>", toText);
  const { copyStore } = await import("../store/index.ts");
  const interrupted = new AbortController();
  const stop = (): void =>
    interrupted.abort(new RigbridgeError("store.refused", "The copy was interrupted. There is no copy."));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, stop);
  try {
    const copied = await copyStore({ from, to, progress: progressLines(), signal: interrupted.signal });
    console.log(summary(copied));
  } finally {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, stop);
  }
}

/** Throws config.invalid, without quoting the text, which may hold a password. */
function placeOf(argument: string, written: string): StorePlace {
  const refuse = (why: string): never => {
    throw new RigbridgeError("config.invalid", `${argument} ${why}`);
  };
  const { value, findings } = withEnvironment(written, process.env);
  const [mistake] = findings;
  if (mistake !== undefined) return refuse(mistake.message);
  const text = String(value);
  if (isDatabaseUrl(text)) return { url: text };
  if (text === "" || text === ":memory:" || /^[a-z][a-z0-9+]*:\/\//i.test(text))
    return refuse("must be the name of a file, or the URL of a PostgreSQL database");
  return { file: text };
}

const progressMs = 5_000;

/** On stderr, since a small store needs none. */
function progressLines(): (progress: CopyProgress) => void {
  let last = performance.now();
  return ({ table: name, rows, of }) => {
    const now = performance.now();
    if (now - last < progressMs) return;
    last = now;
    console.error(`${name}: ${rows.toLocaleString("en-US")} of ${counted(of, "row")}`);
  };
}

function summary({ from, to, tables, changedTexts }: CopiedStore): string {
  const rows = tables.map(({ table: name, rows: count, checksum }) => [name, count.toLocaleString("en-US"), checksum]);
  const total = tables.reduce((sum, each) => sum + each.rows, 0);
  return [
    table(["Table", "Rows", "Checksum"], rows),
    "",
    ...(changedTexts === 0
      ? []
      : [
          `${counted(changedTexts, "text")} had the character of code 0, which PostgreSQL does not hold: it is now U+FFFD.`,
        ]),
    `${from} was copied to ${to}: ${counted(total, "row")}, each the same in both. It contains passwords: keep it secret.`,
    "Name the copy in store.url of the configuration before you start a service, and start none with the old store.",
  ].join("\n");
}
