import { FacilityDevice } from "../contract/facility-settings.ts";
import { needsMessages } from "../contract/messages.ts";
import { didYouMean } from "../contract/nearest.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import { parseAddress } from "../link/address.ts";
import type { Finding, Path } from "./document.ts";
import { ownTopics, reservedTopic } from "./plug-topics.ts";

interface Known {
  /** Names and uids. */
  readonly miners: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
}

interface Entry {
  readonly path: Path;
  readonly device: FacilityDevice;
}

/** Mistakes of facility devices that are valid on their own: keys, outlets and rigs given twice, and unknown names. */
export function facilityFindings(config: Readonly<Record<string, unknown>>, known: Known): Finding[] {
  const list: unknown[] = Array.isArray(config.facility) ? config.facility : [];
  const entries = list.flatMap((value, index): Entry[] => {
    const { data } = FacilityDevice.safeParse(value);
    return data === undefined ? [] : [{ path: ["facility", index], device: data }];
  });
  return [
    ...givenTwice(
      entries.map(({ path, device }) => ({ path: [...path, "key"], value: device.key })),
      "key",
    ),
    ...entries.flatMap(({ path, device }) => [
      ...("address" in device ? addressFinding(path, device.address, device.driver === "shelly") : []),
      ...topicFindings(path, device, config),
      ...unknown([...path, "groups"], "group", device.groups ?? [], known.groups),
      // A uid may be a MAC, which only the rig itself reports.
      ...unknown([...path, "miners"], "miner", (device.miners ?? []).filter(isNoMac), known.miners),
    ]),
    ...outletFindings(entries, known),
  ];
}

const isNoMac = (name: string): boolean => !/^[0-9a-f]{12}$/.test(name);

/** Why nothing can be read at an address of the building. */
export function addressFinding(path: Path, address: string, mayBeWeb = false): Finding[] {
  try {
    const { tls } = parseAddress(address);
    return tls && !mayBeWeb ? [{ path: [...path, "address"], message: "must be host or host:port" }] : [];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return [{ path: [...path, "address"], message: error.errors[0]?.message ?? error.message }];
  }
}

function topicFindings(path: Path, device: FacilityDevice, { mqtt }: Readonly<Record<string, unknown>>): Finding[] {
  if (device.driver !== "mqtt") return [];
  if (!isRecord(mqtt)) return [{ path: [...path, "driver"], message: needsMessages }];
  const { set } = device.topics;
  const why = set === undefined ? null : reservedTopic(set, ownTopics(mqtt));
  return why === null ? [] : [{ path: [...path, "topics", "set"], message: why }];
}

function outletFindings(entries: readonly Entry[], known: Known): Finding[] {
  const outlets = entries.flatMap(({ path, device }) =>
    device.driver === "snmp"
      ? device.outlets.map((outlet, index) => ({ path: [...path, "outlets", index], outlet, key: device.key }))
      : [],
  );
  return [
    ...givenTwice(
      outlets.map(({ path, outlet, key }) => ({ path: [...path, "n"], value: `${key} ${outlet.n}` })),
      "number",
    ),
    ...givenTwice(
      outlets.flatMap(({ path, outlet }) =>
        outlet.miner === undefined ? [] : [{ path: [...path, "miner"], value: outlet.miner }],
      ),
      "miner",
    ),
    ...outlets.flatMap(({ path, outlet: { miner } }) =>
      miner === undefined || !isNoMac(miner) || known.miners.has(miner)
        ? []
        : [{ path: [...path, "miner"], message: noSuch("miner", miner, known.miners) }],
    ),
  ];
}

function givenTwice(values: readonly { readonly path: Path; readonly value: string }[], what: string): Finding[] {
  const seen = new Set<string>();
  return values.flatMap(({ path, value }) => {
    if (!seen.has(value)) {
      seen.add(value);
      return [];
    }
    return [{ path, message: `is the ${what} of an entry before it too` }];
  });
}

const unknown = (path: Path, what: string, names: readonly string[], known: ReadonlySet<string>): Finding[] =>
  names.flatMap((name, index) =>
    known.has(name) ? [] : [{ path: [...path, index], message: noSuch(what, name, known) }],
  );

const noSuch = (what: string, name: string, known: ReadonlySet<string>): string =>
  `there is no ${what} "${name}"${didYouMean(name, [...known])}`;
