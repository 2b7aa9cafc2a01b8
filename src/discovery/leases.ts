import { isIPv4 } from "node:net";
import { setImmediate } from "node:timers/promises";
import { normalMac } from "../link/identity.ts";

/** The MAC addresses of IPv4 addresses. */
export interface Neighbours {
  readonly source: "lease" | "arp";
  /** As in identities, by address. */
  readonly macs: ReadonlyMap<string, string>;
}

/** More are ignored. */
const most = 50_000;
/** Entries read in one turn of the event loop: a large file takes half a second. */
const perTurn = 500;

/**
 * The valid leases in the file of a DHCP server, or the complete entries of an ARP table; which of them it is shows in the text.
 * `now` in epoch ms. Lines of another form are ignored, as is IPv6. Sources: dnsmasq's src/lease.c, as explained on
 * dnsmasq-discuss on 2016-06-09; dhcpd.leases(5) of ISC; Kea's CSVLeaseFile4; proc(5) and linux/if_arp.h.
 */
export async function neighboursIn(text: string, now: number): Promise<Neighbours> {
  if (/^IP address\s+HW type\s/.test(text)) return { source: "arp", macs: await collected(arpEntries(text)) };
  const leases = /^#?\s*address,hwaddr,/.test(text)
    ? keaLeases(text, now)
    : /^\s*lease\s+\S+\s*\{/m.test(text)
      ? dhcpdLeases(text, now)
      : dnsmasqLeases(text, now);
  return { source: "lease", macs: await collected(leases) };
}

/** An address with its MAC; null: without one any more. A later entry replaces an earlier one. */
type Entry = readonly [address: string, mac: string | null];

async function collected(entries: Iterable<Entry>): Promise<ReadonlyMap<string, string>> {
  const macs = new Map<string, string>();
  let read = 0;
  for (const [address, mac] of entries) {
    read += 1;
    if (read % perTurn === 0) await setImmediate();
    if (!isIPv4(address)) continue;
    if (mac === null) macs.delete(address);
    else if (macs.size < most || macs.has(address)) macs.set(address, mac);
  }
  return macs;
}

function* linesOf(text: string): Iterable<string> {
  for (const [line] of text.matchAll(/[^\r\n]+/g)) yield line;
}

/** `expiry mac address name client-id`; expiry in epoch s, 0 = never. Another medium than Ethernet has its type before the MAC. */
function* dnsmasqLeases(text: string, now: number): Iterable<Entry> {
  for (const line of linesOf(text)) {
    const [, expiry = "", mac = "", address = ""] = /^(\d{1,12}) (\S+) (\S+) \S+ \S+$/.exec(line) ?? [];
    // A dnsmasq for machines without a clock writes the remaining s instead.
    const isOver = Number(expiry) > 1e9 && Number(expiry) * 1000 <= now;
    if (address !== "" && !isOver) yield [address, normalMac(mac)];
  }
}

/** `lease address { statement; … }`, appended at each change. */
function* dhcpdLeases(text: string, now: number): Iterable<Entry> {
  let address: string | null = null;
  let [mac, isActive]: [string | null, boolean] = [null, true];
  for (const line of linesOf(text)) {
    const begins = /^\s*lease\s+(\S+)\s*\{/.exec(line);
    if (begins !== null) [address, mac, isActive] = [begins[1] ?? null, null, true];
    else if (address !== null && /^\s*\}/.test(line)) {
      yield [address, isActive ? mac : null];
      address = null;
    } else if (address !== null) {
      const [, name = "", value = ""] =
        /^\s*(binding state|hardware ethernet|ends|abandoned)\s*([^;]*);/.exec(line) ?? [];
      if (name === "hardware ethernet") mac = normalMac(value.trim());
      else if (name === "abandoned") isActive = false;
      else if (name === "binding state") isActive &&= value.trim() === "active";
      else if (name === "ends") isActive &&= !isOver(value.trim(), now);
    }
  }
}

/** `never`, `3 2026/10/06 10:00:00` in UTC, or, as `db-time-format local` has it, `epoch 1790000000`. */
function isOver(date: string, now: number): boolean {
  const [, epoch] = /^epoch (\d{1,12})/.exec(date) ?? [];
  if (epoch !== undefined) return Number(epoch) * 1000 <= now;
  const [, year, month, day, time] = /^\d (\d{4})\/(\d{1,2})\/(\d{1,2}) (\d{1,2}:\d{2}:\d{2})/.exec(date) ?? [];
  if (time === undefined) return false;
  return Date.parse(`${year}-${month?.padStart(2, "0")}-${day?.padStart(2, "0")}T${time.padStart(8, "0")}Z`) <= now;
}

/** Columns by the names in the first line; state 0 = assigned, and a lifetime of 0 removes what an earlier line says. */
function* keaLeases(text: string, now: number): Iterable<Entry> {
  const columns = (/[^\r\n]*/.exec(text)?.[0] ?? "").replace(/^#?\s*/, "").split(",");
  const at = (name: string): number => columns.indexOf(name);
  const [mac, lifetime, expire, state] = [at("hwaddr"), at("valid_lifetime"), at("expire"), at("state")];
  for (const line of linesOf(text)) {
    // A comma in a text is written as a character reference.
    const cells = line.split(",");
    const [address = ""] = cells;
    const isForEver = cells[lifetime] === "4294967295";
    const isValid =
      (cells[state] ?? "0") === "0" && cells[lifetime] !== "0" && (isForEver || !(Number(cells[expire]) * 1000 <= now));
    yield [address, isValid ? normalMac(cells[mac] ?? "") : null];
  }
}

/** `address type flags mac mask device`; flag 2 = complete. */
function* arpEntries(text: string): Iterable<Entry> {
  for (const line of linesOf(text)) {
    const [address = "", type, flags = "", mac = ""] = line.trim().split(/\s+/);
    if (type === "0x1" && (Number(flags) & 2) !== 0) yield [address, normalMac(mac)];
  }
}
