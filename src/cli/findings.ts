import { type Colour, inColour } from "./colours.ts";
import { counted, hanging, printable } from "./table.ts";

/** What a check of `rigbridge doctor` has found. */
export interface Finding {
  /** What was checked, in a word. */
  readonly subject: string;
  /** Null: it cannot be known. */
  readonly ok: boolean | null;
  /** One line for each mistake. */
  readonly message: string;
  /** What to do. */
  readonly advice?: string;
}

const words = { true: ["ok", "green"], false: ["wrong", "red"], null: ["unknown", "yellow"] } as const satisfies Record<
  string,
  readonly [word: string, colour: Colour]
>;

/** The findings as lines of at most 80 columns, and how many are wrong. */
export function findingsText(findings: readonly Finding[], coloured: boolean): string {
  const widest = Math.max(...findings.map(({ subject }) => subject.length));
  const blocks = findings.flatMap(({ subject, ok, message, advice }) => {
    const [word, colour] = words[`${ok}`];
    const lines = [...message.split("\n"), ...(ok === true || advice === undefined ? [] : [`→ ${advice}`])];
    const margin = " ".repeat("unknown".length + widest + 4);
    const [first = "", ...rest] = lines.map((line, index) =>
      hanging(index === 0 ? `${word.padEnd("unknown".length)}  ${subject.padEnd(widest)}  ` : margin, printable(line)),
    );
    return [coloured ? inColour(colour, word) + first.slice(word.length) : first, ...rest];
  });
  const wrong = findings.filter(({ ok }) => ok === false).length;
  return [...blocks, "", wrong === 0 ? "Nothing is wrong." : `${counted(wrong, "thing")} to repair.`].join("\n");
}

interface Clock {
  /** Epoch ms. */
  readonly now: number;
  /** True if the system says that a time server sets the clock. */
  readonly isSynchronised: true | null;
  /** The service's clock, to a second; null without a service. */
  readonly ofService: number | null;
}

/** The year of this version: an earlier clock was never set. */
const earliest = Date.UTC(2026, 0, 1);
/** ms that the clock of another computer may differ: its header has whole seconds, and a request takes time. */
const tolerance = 5_000;
const setClock = "let the system set its clock by a time server, such as with timedatectl set-ntp true";

export function clockFinding({ now, isSynchronised, ofService }: Clock): Finding {
  const subject = "Clock";
  const time = `${new Date(now).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  const apart = ofService === null ? 0 : Math.abs(now - ofService);
  if (now < earliest) return { subject, ok: false, message: `it is ${time} here, which cannot be`, advice: setClock };
  if (apart > tolerance) {
    const message = `the clocks of this computer and of the service are ${Math.round(apart / 1000)} s apart`;
    return { subject, ok: false, message, advice: setClock };
  }
  const source = isSynchronised ? "set by a time server" : "the system does not say whether a time server sets it";
  return { subject, ok: isSynchronised, message: `${time}; ${source}` };
}

/** Less free space is a problem soon. */
const leastFree = 200e6;

export function diskFinding(folder: string, free: number): Finding {
  const megabytes = `${Math.floor(free / 1e6).toLocaleString("en-US")} MB`;
  return {
    subject: "Disk",
    ok: free >= leastFree,
    message: `${megabytes} free in ${folder}`,
    advice: "free some space; on a full disk history has gaps, and nothing can be added",
  };
}
