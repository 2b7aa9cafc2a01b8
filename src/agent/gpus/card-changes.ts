import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { GpuSettings } from "../../contract/agent.ts";
import type { Card } from "./card.ts";
import { nvidiaSmi } from "./nvidia.ts";
import type { RunOptions } from "./run.ts";
import { CardFiles, drmCards, slotName } from "./sysfs.ts";

export type SettingName = Exclude<keyof GpuSettings, "bus">;
export const settingNames: readonly SettingName[] = ["powerLimit", "coreClock", "memoryClock", "fan"];

/** One step of a change to a card: an option of nvidia-smi, or a value written to a file of its sysfs folder. */
export const CardStep = z.union([
  z.strictObject({ option: z.string().regex(/^--(?:power-limit|(?:lock|reset)-(?:gpu|memory)-clocks)(?:=[\d.,]+)?$/) }),
  z.strictObject({
    file: z
      .string()
      .regex(
        /^(?:power_dpm_force_performance_level|pp_od_clk_voltage|hwmon\/hwmon\d+\/(?:power1_cap|power1_max|pwm1(?:_enable)?))$/,
      ),
    value: z.string().regex(/^[a-z0-9_ ]{1,40}$/),
  }),
]);
export type CardStep = z.infer<typeof CardStep>;

/** The steps that apply a setting, and those that restore the previous one. */
export interface CardChange {
  readonly set: readonly CardStep[];
  readonly undo: readonly CardStep[];
}

const titles: Readonly<Record<SettingName, string>> = {
  powerLimit: "power limit",
  coreClock: "core clock",
  memoryClock: "memory clock",
  fan: "fan",
};
export const titleOf = (setting: SettingName): string => titles[setting];

/** The change that applies a setting; a text: why the card cannot be set. */
export async function changeOf(
  card: Card,
  setting: SettingName,
  value: number,
  root: string,
): Promise<CardChange | string> {
  if (card.lost) return "the card does not answer";
  if (card.vendor === "nvidia") return nvidiaChange(card, setting, value);
  const folder = await folderOf(card.slot, root);
  if (folder === null) return "the card is no longer there";
  const files = new CardFiles(folder);
  if (setting === "powerLimit")
    return fileChange(files, card.vendor === "amd" ? "power1_cap" : "power1_max", value * 1e6);
  if (card.vendor === "intel") return `the ${titleOf(setting)} of Intel cards cannot be set`;
  return setting === "fan" ? fanChange(files, value) : clockChange(files, setting === "coreClock" ? "s" : "m", value);
}

/** Clock locks cannot be read, so restoring resets the clocks. */
function nvidiaChange(card: Card, setting: SettingName, value: number): CardChange | string {
  const megahertz = Math.round(value / 1e6);
  switch (setting) {
    case "powerLimit":
      if (card.powerLimit === null) return "the card has no power limit";
      return {
        set: [{ option: `--power-limit=${Math.round(value)}` }],
        undo: [{ option: `--power-limit=${card.powerLimit}` }],
      };
    case "coreClock":
      return {
        set: [{ option: `--lock-gpu-clocks=${megahertz},${megahertz}` }],
        undo: [{ option: "--reset-gpu-clocks" }],
      };
    case "memoryClock":
      return {
        set: [{ option: `--lock-memory-clocks=${megahertz},${megahertz}` }],
        undo: [{ option: "--reset-memory-clocks" }],
      };
    case "fan":
      return "nvidia-smi cannot set fans; use the mining program's own option in the command line parameters";
  }
}

async function fileChange(files: CardFiles, name: string, value: number): Promise<CardChange | string> {
  const file = await files.sensorFile(name);
  const before = await files.fact(file);
  if (before === null) return "the card has no power limit";
  return { set: [{ file, value: String(Math.round(value)) }], undo: [{ file, value: before }] };
}

const byHand = "1";

async function fanChange(files: CardFiles, percent: number): Promise<CardChange | string> {
  const [mode, speed] = [await files.sensorFile("pwm1_enable"), await files.sensorFile("pwm1")];
  const before = { mode: await files.fact(mode), speed: await files.fact(speed) };
  if (before.mode === null || before.speed === null) return "the fan of this card cannot be set";
  const full = Number((await files.fact(await files.sensorFile("pwm1_max"))) ?? "255");
  return {
    set: [
      { file: mode, value: byHand },
      { file: speed, value: String(Math.round((percent / 100) * full)) },
    ],
    undo: [
      ...(before.mode === byHand ? [{ file: speed, value: before.speed }] : []),
      { file: mode, value: before.mode },
    ],
  };
}

const levelFile = "power_dpm_force_performance_level";
const clockFile = "pp_od_clk_voltage";

/** The highest clock of its table; "c" commits, "r" restores the table of the card. */
async function clockChange(files: CardFiles, table: "s" | "m", value: number): Promise<CardChange | string> {
  const level = await files.fact(levelFile);
  if (level === null || (await files.fact(clockFile)) === null)
    return "the clocks of this card cannot be set; the kernel needs amdgpu.ppfeaturemask=0xffffffff";
  return {
    set: [
      { file: levelFile, value: "manual" },
      { file: clockFile, value: `${table} 1 ${Math.round(value / 1e6)}` },
      { file: clockFile, value: "c" },
    ],
    undo: [
      { file: levelFile, value: "manual" },
      { file: clockFile, value: "r" },
      { file: clockFile, value: "c" },
      { file: levelFile, value: level },
    ],
  };
}

/** Runs a step; a text: why it failed. */
export async function takeStep(
  slot: string,
  step: CardStep,
  root: string,
  options: RunOptions,
): Promise<string | null> {
  if ("option" in step) return setNvidia(slot, step.option, options);
  const folder = await folderOf(slot, root);
  if (folder === null) return "the card is no longer there";
  try {
    await writeFile(join(folder, step.file), step.value, { flag: "r+" });
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "EACCES" || code === "EPERM") return "only root may set it";
    return code === "EINVAL" ? "the card does not accept this value" : `writing ${step.file} failed (${code})`;
  }
}

async function setNvidia(slot: string, option: string, options: RunOptions): Promise<string | null> {
  const output = await nvidiaSmi([`--id=${slot}`, option], options);
  if (output === "missing") return "there is no nvidia-smi";
  if (output === "hanging") return "nvidia-smi does not answer";
  // Some refusals are only warnings to nvidia-smi, which ends with 0.
  const refused = output.code !== 0 || /not supported|treating as warning/i.test(output.text);
  if (!refused) return null;
  return (
    output.text
      .split("\n")
      .find((line) => line.trim() !== "")
      ?.trim()
      .slice(0, 300) ?? `nvidia-smi ended with ${output.code}`
  );
}

async function folderOf(slot: string, root: string): Promise<string | null> {
  for (const card of await drmCards(root)) {
    const folder = join(card, "device");
    if (slotName(await new CardFiles(folder).fact("uevent"))?.toLowerCase() === slot) return folder;
  }
  return null;
}
