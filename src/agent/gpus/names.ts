import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CardFiles } from "./sysfs.ts";

/**
 * Name of an AMD or Intel card: its own, otherwise from libdrm's list (AMD), from the list of PCI ids, or its number.
 */
export async function cardName(vendor: "amd" | "intel", files: CardFiles, root: string): Promise<string> {
  const own = await files.fact("product_name");
  if (own !== null && own !== "") return own.slice(0, 200);
  const device = idIn(await files.fact("device"));
  const revision = idIn(await files.fact("revision"));
  const listed =
    (vendor === "amd" ? await libdrmName(device, revision, root) : null) ?? (await pciName(vendor, device, root));
  return listed?.slice(0, 200) ?? `${vendor === "amd" ? "AMD" : "Intel"} GPU ${device}`.trim();
}

/** "0x73bf" is 73bf. */
const idIn = (text: string | null) => (text ?? "").replace(/^0x/i, "").toLowerCase();

/** Lines "73BF, C1, AMD Radeon RX 6800 XT" of /usr/share/libdrm/amdgpu.ids. */
async function libdrmName(device: string, revision: string, root: string): Promise<string | null> {
  for (const line of await linesOf(join(root, "usr/share/libdrm/amdgpu.ids"))) {
    const [id = "", ofRevision = "", ...name] = line.split(",").map((part) => part.trim());
    if (id.toLowerCase() === device && Number.parseInt(ofRevision, 16) === Number.parseInt(revision, 16))
      return name.join(", ");
  }
  return null;
}

const vendorIds = { amd: "1002", intel: "8086" };

/**
 * A vendor's line starts with its id, a device's with a tab; of "Navi 21 [Radeon RX 6800]" the name is the part in
 * brackets.
 */
async function pciName(vendor: "amd" | "intel", device: string, root: string): Promise<string | null> {
  for (const file of ["usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids"]) {
    let isMaker = false;
    for (const line of await linesOf(join(root, file))) {
      if (/^[0-9a-f]{4} /.test(line)) isMaker = line.startsWith(vendorIds[vendor]);
      else if (isMaker && line.startsWith(`\t${device} `)) {
        const name = line.slice(device.length + 1).trim();
        return /\[(.+)\]/.exec(name)?.[1] ?? name;
      }
    }
  }
  return null;
}

const linesOf = async (file: string): Promise<string[]> =>
  await readFile(file, "utf8").then(
    (text) => text.split("\n"),
    () => [],
  );
