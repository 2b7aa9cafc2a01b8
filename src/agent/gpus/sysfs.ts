import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The file is missing or not readable for this user: the card lacks this figure. Other errors mean a card that does not
 * answer.
 */
const absent = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "EOPNOTSUPP"];

/** The files of one card below /sys/class/drm/cardN/device. */
export class CardFiles {
  readonly folder: string;
  #answered = 0;
  #failed = 0;
  #hwmon: string | null = null;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Whether the card has files with figures, and none could be read. */
  get isDead(): boolean {
    return this.#answered === 0 && this.#failed > 0;
  }

  /** Reads a constant, which the kernel answers without asking the card. */
  async fact(file: string): Promise<string | null> {
    return await readFile(join(this.folder, file), "utf8").then(trimmed, () => null);
  }

  async text(file: string): Promise<string | null> {
    try {
      const text = trimmed(await readFile(join(this.folder, file), "utf8"));
      this.#answered += 1;
      return text;
    } catch (error) {
      if (!absent.includes(codeOf(error))) this.#failed += 1;
      return null;
    }
  }

  async number(file: string, times = 1): Promise<number | null> {
    return numberIn(await this.text(file), times);
  }

  /** A figure of its sensors, such as `temp1_input`. */
  async sensor(file: string, times = 1): Promise<number | null> {
    return this.number(await this.sensorFile(file), times);
  }

  /** The temperature whose label is `label`, in °C; without labels that of `fallback`. */
  async temperature(label: string, fallback: string): Promise<number | null> {
    for (const name of ["temp1", "temp2", "temp3", "temp4"]) {
      const written = await this.fact(await this.sensorFile(`${name}_label`));
      if (written !== label && !(written === null && name === fallback)) continue;
      const value = await this.sensor(`${name}_input`, 1e-3);
      // A dead sensor reports 511 °C or -1.
      return value !== null && value > 0 && value < 150 ? value : null;
    }
    return null;
  }

  /** Path of a file of its sensors below its folder. */
  async sensorFile(file: string): Promise<string> {
    this.#hwmon ??= await readdir(join(this.folder, "hwmon")).then(
      (names) => names.find((name) => name.startsWith("hwmon")) ?? null,
      () => null,
    );
    return join("hwmon", this.#hwmon ?? "none", file);
  }
}

/** The cards of the kernel's graphics drivers, without their connectors (card0-DP-1). */
export async function drmCards(root: string): Promise<string[]> {
  const folder = join(root, "sys/class/drm");
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /^card\d{1,3}$/.test(name)).map((name) => join(folder, name));
}

/** PCI_SLOT_NAME=0000:03:00.0 of its uevent. */
export const slotName = (uevent: string | null): string | null =>
  /^PCI_SLOT_NAME=(\S+)$/m.exec(uevent ?? "")?.[1] ?? null;

/** The clock marked with * in lines such as "1: 800Mhz *", in Hz. */
export const markedClock = (lines: string | null): number | null => {
  const megahertz = /^\s*\d+:\s*(\d+)\s*mhz\s*\*/im.exec(lines ?? "")?.[1];
  return megahertz === undefined ? null : Number(megahertz) * 1e6;
};

export const numberIn = (text: string | null, times = 1): number | null =>
  text !== null && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) * times : null;

const trimmed = (text: string) => text.slice(0, 10_000).trim();
const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
