import type { FacilityQuantity, SnmpDevice } from "../../contract/facility-settings.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { parseAddress } from "../address.ts";
import { snmpTransport } from "../transports/snmp.ts";
import { type FacilityLink, type Measured, type OutletState, rangesWith } from "./facility-link.ts";
import { type Pdu, type PduReading, pdus } from "./presets.ts";

/** A PDU, or another device over SNMP. Only outlets that name a rig are ever written. */
export function snmpDevice(settings: SnmpDevice): FacilityLink {
  const { host, port } = parseAddress(settings.address);
  const transport = snmpTransport(host, port ?? 161, settings);
  const pdu = settings.preset === undefined ? null : pdus[settings.preset];
  const readings = readingsFor(settings, pdu);
  const outlets = settings.outlets.map(({ n }) => n);
  const mayWrite = settings.version === "3" || settings.writeCommunity !== undefined;
  const { at } = transport;

  const read: FacilityLink["read"] = async (signal) => {
    const columns = pdu === null ? [] : [pdu.state.oid, ...(pdu.outletPower === undefined ? [] : [pdu.outletPower])];
    const wanted = [
      ...readings.flatMap(({ oid, digits }) => (digits === undefined ? [oid] : [oid, digits])),
      ...outlets.flatMap((n) => columns.map((column) => `${column}.${n}`)),
    ];
    const answers = await transport.get(wanted, signal);
    const found = new Map(wanted.map((oid, index) => [oid, answers[index] ?? null]));
    const valueAt = (oid: string): number | null => found.get(oid) ?? null;
    return {
      values: new Map(
        readings.map((reading): [FacilityQuantity, Measured] => [reading.reading, measured(reading, valueAt)]),
      ),
      on: null,
      outlets: pdu === null ? [] : outlets.map((n) => outletIn(pdu, n, valueAt)),
    };
  };

  return {
    at,
    ranges: rangesWith(settings.oids),
    read,
    switchOutlet: async (n, on, signal) => {
      if (pdu === null || settings.outlets.find((outlet) => outlet.n === n)?.miner === undefined)
        throw new RigbridgeError("rig.refused", `outlet ${n} of ${settings.key} names no rig, so it is not switched`);
      if (!mayWrite)
        throw new RigbridgeError(
          "rig.read-only",
          `${settings.key} is only read: set its writeCommunity, or use SNMP v3`,
        );
      const { oid, value } = on ? pdu.switchOn : pdu.switchOff;
      await transport.set(`${oid}.${n}`, value, signal);
    },
    close: () => transport.close(),
  };
}

type OidReading = Omit<PduReading, "reading"> & { readonly reading: FacilityQuantity };

/** Those of the preset, unless the settings have another for the same reading. */
function readingsFor({ oids }: SnmpDevice, pdu: Pdu | null): readonly OidReading[] {
  const own = new Set<string>(oids.map(({ reading }) => reading));
  const written = oids.map((each) => ({ ...each, oid: each.oid.replace(/^\./, "") }));
  return [...(pdu?.readings ?? []).filter(({ reading }) => !own.has(reading)), ...written];
}

function measured({ oid, scale, digits }: OidReading, valueAt: (oid: string) => number | null): Measured {
  const value = valueAt(oid);
  if (value === null) return { problem: `has no number at ${oid}` };
  if (digits === undefined) return { value: rounded(value * scale) };
  const places = valueAt(digits);
  if (places === null || !Number.isInteger(places) || places < 0 || places > 6)
    return { problem: `has no number of decimal digits at ${digits}` };
  return { value: rounded((value * scale) / 10 ** places) };
}

/** Without the error of binary fractions. */
const rounded = (value: number): number => Number(value.toPrecision(12));

function outletIn({ state, outletPower }: Pdu, n: number, valueAt: (oid: string) => number | null): OutletState {
  const value = valueAt(`${state.oid}.${n}`);
  const on = value === state.on ? true : value === state.off ? false : null;
  return { n, on, power: outletPower === undefined ? null : valueAt(`${outletPower}.${n}`) };
}
