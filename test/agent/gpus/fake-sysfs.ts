import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "../../finished.ts";

/** A folder in place of "/", with the kernel's files of graphics cards. */
export class FakeSysfs {
  readonly root = mkdtempSync(join(tmpdir(), "sysfs-"));

  constructor() {
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
  }

  /** `files` by their path below the card's device folder. */
  card(number: number, slot: string, vendor: "0x1002" | "0x8086", files: Readonly<Record<string, string>>): void {
    const own = { vendor, uevent: `DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_SLOT_NAME=${slot}`, ...files };
    for (const [path, text] of Object.entries(own)) this.write(this.deviceFile(number, path), `${text}\n`);
    mkdirSync(join(this.root, `sys/class/drm/card${number}-DP-1`), { recursive: true });
  }

  deviceFile = (number: number, path: string) => `sys/class/drm/card${number}/device/${path}`;

  write(path: string, text: string): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  read = (number: number, path: string) => readFileSync(join(this.root, this.deviceFile(number, path)), "utf8").trim();

  /** The card no longer answers: reading any of these files fails, as with EIO. */
  fails(number: number, paths: readonly string[]): void {
    for (const path of paths) {
      const file = join(this.root, this.deviceFile(number, path));
      rmSync(file);
      mkdirSync(file);
    }
  }

  unplug(number: number): void {
    rmSync(join(this.root, `sys/class/drm/card${number}`), { recursive: true });
  }
}

export const radeonSensors = {
  gpu_busy_percent: "99",
  "hwmon/hwmon3/name": "amdgpu",
  "hwmon/hwmon3/temp1_input": "58000",
  "hwmon/hwmon3/temp1_label": "edge",
  "hwmon/hwmon3/temp2_input": "71000",
  "hwmon/hwmon3/temp2_label": "junction",
  "hwmon/hwmon3/temp3_input": "82000",
  "hwmon/hwmon3/temp3_label": "mem",
  "hwmon/hwmon3/fan1_input": "1834",
  "hwmon/hwmon3/pwm1": "128",
  "hwmon/hwmon3/pwm1_max": "255",
  "hwmon/hwmon3/pwm1_enable": "2",
  "hwmon/hwmon3/power1_average": "135000000",
  "hwmon/hwmon3/power1_cap": "150000000",
  "hwmon/hwmon3/power1_cap_default": "200000000",
  "hwmon/hwmon3/in0_input": "806",
  "hwmon/hwmon3/freq1_input": "1250000000",
  "hwmon/hwmon3/freq2_input": "1000000000",
};

export const radeon = {
  ...radeonSensors,
  device: "0x73bf",
  revision: "0xc1",
  mem_info_vram_total: "17163091968",
  power_dpm_force_performance_level: "auto",
};
