import { type Card, unreadCard } from "./card.ts";
import { type CardFiles, markedClock } from "./sysfs.ts";

/** An AMD card, through the files of the kernel's driver amdgpu; AMD's tools are not needed. */
export async function readAmd(slot: string, name: string, files: CardFiles): Promise<Card> {
  const limit = await files.sensor("power1_cap", 1e-6);
  const usual = await files.sensor("power1_cap_default", 1e-6);
  const fan = await files.sensor("pwm1");
  const fullFan = (await files.sensor("pwm1_max")) ?? 255;
  const card: Card = {
    ...unreadCard({ slot, name, vendor: "amd" }),
    activity: await files.number("gpu_busy_percent"),
    clock: (await files.sensor("freq1_input")) ?? markedClock(await files.text("pp_dpm_sclk")),
    memoryClock: (await files.sensor("freq2_input")) ?? markedClock(await files.text("pp_dpm_mclk")),
    voltage: await files.sensor("in0_input", 1e-3),
    powertune: limit === null || usual === null || usual <= 0 ? null : Math.round((limit / usual) * 100 - 100),
    fanRpm: await files.sensor("fan1_input"),
    fanPercent: fan === null || fullFan <= 0 ? null : Math.round((fan / fullFan) * 100),
    temperature: await files.temperature("edge", "temp1"),
    memoryTemperature: await files.temperature("mem", "temp3"),
    // Newer kernels and cards have power1_input instead of the average.
    power: (await files.sensor("power1_average", 1e-6)) ?? (await files.sensor("power1_input", 1e-6)),
    powerLimit: limit,
  };
  const isDead = files.isDead;
  return { ...card, memory: whole(await files.fact("mem_info_vram_total")), lost: isDead };
}

const whole = (text: string | null) => (text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null);
