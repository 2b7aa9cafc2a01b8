import { linux } from "./linux.ts";
import { macos } from "./macos.ts";
import type { Platform } from "./platform.ts";
import { windows } from "./windows.ts";

export {
  type GroupSignal,
  isSameProcess,
  type MarkedProcess,
  type Platform,
  type ProcessIdentity,
  processName,
} from "./platform.ts";

export function platformOf(name: NodeJS.Platform = process.platform): Platform {
  if (name === "linux") return linux;
  return name === "win32" ? windows : macos;
}
