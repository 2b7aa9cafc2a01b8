import type { Identity } from "../../../contract/readings.ts";
import { normalMac, unknownIdentity } from "../../identity.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";

/** What decides how one of Canaan's machines reports and is controlled. */
export interface Generation {
  readonly name: "a-series" | "nano3" | "nano3s" | "mini3" | "q";
  /** 10 of an A1066 or A1047, 15 of an A15; null for home miners and unknown models. */
  readonly series: number | null;
}

/** From `MODEL` and `PROD` of the version, otherwise from the beginning of `Ver[Q-25052801_...]` in the line. */
export function generationOf(version: TolerantReader, ver: string | undefined): Generation {
  const model = `${version.text("MODEL") ?? ""} ${version.text("PROD") ?? ""} ${ver ?? ""}`.toLowerCase();
  if (/nano\s?3s/.test(model)) return { name: "nano3s", series: null };
  if (/nano/.test(model)) return { name: "nano3", series: null };
  if (/mini\s?3/.test(model)) return { name: "mini3", series: null };
  if (/(?:^|\s)q(?:\s|-|$)/.test(model)) return { name: "q", series: null };
  return { name: "a-series", series: seriesOf(model) };
}

/** "1246-83", "1126pro", "15-194", "10xx", "a1346"; "921" is series 9. */
function seriesOf(model: string): number | null {
  for (const word of model.split(/\s+/)) {
    const digits = /^a?(\d\d)(?:\d\d|xx)?(?!\d)/.exec(word)?.[1] ?? /^a?(\d)\d\d(?!\d)/.exec(word)?.[1];
    if (digits !== undefined) return Number(digits);
  }
  return null;
}

const pretty: Readonly<Record<Generation["name"], string | null>> = {
  "a-series": null,
  nano3: "Avalon Nano 3",
  nano3s: "Avalon Nano 3S",
  mini3: "Avalon Mini 3",
  q: "Avalon Q",
};

/** `line` helps with models that do not answer `version`. */
export function identityOf(version: TolerantReader, { name }: Generation, line: ReadonlyMap<string, string>): Identity {
  // "1246-83-21072802_4ec6bb0_211fc46": the model, then the firmware.
  const [, model = null, firmware = null] = /^(.{1,40}?)-(\d{8}_.{1,60})$/.exec(line.get("Ver") ?? "") ?? [];
  const dna = version.text("DNA") ?? line.get("DNA") ?? null;
  return {
    ...unknownIdentity,
    make: "Avalon",
    model: pretty[name] ?? version.text("PROD") ?? (model === null ? null : `AvalonMiner ${model}`),
    firmware: version.text("VERSION") ?? version.text("CGVERSION") ?? version.text("LVERSION") ?? firmware,
    mac: normalMac(version.text("MAC")),
    // Every Nano 3 reports number 0.
    serial: dna === null || !/^[0-9A-Za-z]{8,64}$/.test(dna) || /^0+$/.test(dna) ? null : dna,
  };
}

/** The work modes by number, with their documented names, otherwise the number. */
export const modeWords: Readonly<Record<Generation["name"], readonly string[]>> = {
  "a-series": ["0", "1"],
  nano3: ["low", "medium", "high"],
  nano3s: ["low", "medium", "high"],
  mini3: ["eco", "standard", "super"],
  q: ["eco", "standard", "super"],
};

export const modeWord = (name: Generation["name"], mode: number): string => modeWords[name][mode] ?? String(mode);

/**
 * W by mode as the maker states them. They are offered only where the cap that the firmware reports in its present mode
 * agrees.
 */
export const statedWatts: Readonly<Partial<Record<Generation["name"], readonly number[]>>> = {
  q: [800, 1300, 1674],
};
