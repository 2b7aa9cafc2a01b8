import type { FacilityQuantity, ShellyDevice } from "../../contract/facility-settings.ts";
import { parseAddress } from "../address.ts";
import { basicHeaders } from "../plugs/plug.ts";
import { shelly as shellyPlug } from "../plugs/shelly.ts";
import { Notes, TolerantReader } from "../tolerant-reader.ts";
import { digestTransport } from "../transports/digest.ts";
import { httpTransport } from "../transports/http.ts";
import { type FacilityLink, type Measured, plausibleRanges, type RawReading } from "./facility-link.ts";

/**
 * A Shelly meter, sensor or relay. Generation 1: /status; from generation 2 on Shelly.GetStatus, whose components are
 * em, em1, pm1, switch and temperature with their counters. Source: shelly-api-docs.shelly.cloud.
 */
export function shellyDevice({ address, channel, username = "admin", password }: ShellyDevice): FacilityLink {
  const { host, port, tls } = parseAddress(address);
  const http = httpTransport(host, port ?? (tls ? 443 : 80), tls);
  const secure = password === undefined ? http : digestTransport(http, { username, password });
  const plug = shellyPlug(http, channel, { username, password });
  let isFirst: boolean | null = null;
  return {
    at: http.at,
    ranges: plausibleRanges,
    read: async (signal) => {
      const reader = (value: unknown): TolerantReader => new TolerantReader(value, new Notes(), "");
      isFirst ??= !reader((await http.getJson("/shelly", signal)).value).has("gen");
      if (isFirst) {
        const { value } = await http.getJson("/status", signal, basicHeaders(username, password));
        return firstGeneration(reader(value), channel);
      }
      return laterGeneration(reader((await secure.getJson("/rpc/Shelly.GetStatus", signal)).value), channel);
    },
    run: (on, signal) => plug.switch(on, signal),
    close: () => http.close(),
  };
}

type Numbers = Partial<Record<FacilityQuantity, number | null>>;

/** What it has; null is left out, since the component of another device has no such field. */
const valuesOf = (numbers: Numbers): Map<FacilityQuantity, Measured> =>
  new Map(
    (["power", "energy", "voltage", "current", "temperature"] as const).flatMap(
      (quantity): [FacilityQuantity, Measured][] => {
        const value = numbers[quantity] ?? null;
        return value === null ? [] : [[quantity, { value }]];
      },
    ),
  );

/** Power may flow back; a counter below 0 is judged like every other value. */
const anySign = { min: -100_000_000 };
const celsius = { min: -100 };

function firstGeneration(status: TolerantReader, channel: number): RawReading {
  const meter = status.list("emeters")[channel];
  const plain = status.list("meters")[channel];
  const on = status.list("relays")[channel]?.boolean("ison") ?? null;
  const sensor = status.object("ext_temperature").object(String(channel));
  const values = valuesOf({
    power: meter?.number("power", anySign) ?? plain?.number("power", anySign) ?? null,
    // Watt-hours of an EM, watt-minutes of a plug.
    energy:
      meter?.number("total", { times: 0.001, ...anySign }) ??
      plain?.number("total", { times: 1 / 60_000, ...anySign }) ??
      null,
    voltage: meter?.number("voltage") ?? null,
    current: meter?.number("current", anySign) ?? null,
    temperature: sensor.number("tC", celsius),
  });
  return { values, on, outlets: [] };
}

function laterGeneration(status: TolerantReader, channel: number): RawReading {
  const part = (name: string): TolerantReader => status.object(`${name}:${channel}`);
  const [em, em1, relay, pm1] = [part("em"), part("em1"), part("switch"), part("pm1")];
  const kilo = { times: 0.001, ...anySign };
  const values = valuesOf({
    power:
      em.number("total_act_power", anySign) ??
      em1.number("act_power", anySign) ??
      pm1.number("apower", anySign) ??
      relay.number("apower", anySign),
    energy:
      part("emdata").number("total_act", kilo) ??
      part("em1data").number("total_act_energy", kilo) ??
      pm1.object("aenergy").number("total", kilo) ??
      relay.object("aenergy").number("total", kilo),
    voltage: em.number("a_voltage") ?? em1.number("voltage") ?? pm1.number("voltage") ?? relay.number("voltage"),
    current:
      em.number("total_current", anySign) ??
      em1.number("current", anySign) ??
      pm1.number("current", anySign) ??
      relay.number("current", anySign),
    temperature: part("temperature").number("tC", celsius),
  });
  return { values, on: relay.boolean("output"), outlets: [] };
}
