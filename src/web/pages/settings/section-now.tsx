import type { ComponentChildren } from "preact";
import type { SettingsSection } from "../../../contract/settings.ts";
import { call } from "../../api.ts";
import { money, power, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { useFresh } from "../../parts/fresh.ts";
import { useLoaded } from "../../parts/load.tsx";
import { Age, Mark, type Tone } from "../../parts/status.tsx";
import { may } from "../../session.ts";
import { health, mqttWord } from "./health.ts";

/** One line about the present state of a section. */
interface Line {
  readonly tone: Tone;
  readonly text: string;
  /** When it was measured. */
  readonly at?: string | null;
}

const loaders: Partial<Record<SettingsSection, (signal: AbortSignal) => Promise<readonly Line[]>>> = {
  mqtt: async (signal) => {
    const { mqtt } = await health(signal);
    if (mqtt === undefined) return [{ tone: "off", text: t.serviceSettings.noBroker }];
    const state = t.serviceSettings.broker({ state: mqttWord(mqtt.state) });
    const text = mqtt.detail === null ? state : `${state} (${mqtt.detail})`;
    return [{ tone: mqtt.state === "connected" ? "good" : "warning", text }];
  },
  electricity: async (signal) => {
    if (!may("getPrices")) return [];
    const { now, currency, at, problem } = await call("getPrices", {}, { signal });
    const price: Line =
      now === null
        ? { tone: "off", text: t.serviceSettings.noPrice }
        : { tone: "good", text: t.serviceSettings.costs({ price: money(now, currency) }), at };
    if (problem === null) return [price];
    return now === null ? [{ tone: "warning", text: problem }] : [price, { tone: "bad", text: problem }];
  },
  market: async (signal) => {
    if (!may("getMarket")) return [];
    const { sources } = await call("getMarket", {}, { signal });
    if (sources.length === 0) return [{ tone: "off", text: t.serviceSettings.noSources }];
    return sources.map(({ source, at, problem }) =>
      problem === null
        ? {
            tone: at === null ? "off" : "good",
            text: at === null ? `${source}: ${t.serviceSettings.notYet}` : source,
            at,
          }
        : { tone: "bad", text: problem },
    );
  },
  heating: (signal) => rooms("target", signal),
  follow: (signal) => rooms("surplus", signal),
};

async function rooms(kind: "target" | "surplus", signal: AbortSignal): Promise<readonly Line[]> {
  if (!may("listRooms")) return [];
  const all = (await call("listRooms", {}, { signal })).filter((room) => room.kind === kind);
  if (all.length === 0) return [{ tone: "off", text: t.serviceSettings.noRooms }];
  return all.map(({ name, temperature: degrees, surplus, temperatureAt }) => {
    const value = kind === "target" ? degrees : surplus;
    if (value === null) return { tone: "warning", text: `${name}: ${t.serviceSettings.notYet}` };
    const text = kind === "target" ? temperature(value, 1) : power(value);
    return { tone: "good", text: `${name}: ${text}`, at: temperatureAt };
  });
}

const none: readonly Line[] = [];

/** The present state of a section, also later; undefined until the service has answered, and empty if it cannot say. */
export function useLinesNow(section: SettingsSection): readonly Line[] | undefined {
  const load = loaders[section];
  const { value, problem, reload } = useLoaded(async (signal) => (await load?.(signal)) ?? none, [section]);
  useFresh(reload);
  return value ?? (problem === null ? undefined : none);
}

/** Whether the broker is connected, the price of a kWh, the temperature of a room. */
export function SectionNow({ lines }: { lines: readonly Line[] }) {
  if (lines.length === 0) return null;
  return (
    <section class="section-now" aria-label={t.serviceSettings.now}>
      {lines.map(({ tone, text, at }) => (
        <p key={text} class="section-line">
          <Mark tone={tone}>
            <Words>{text}</Words>
          </Mark>
          {at == null ? null : (
            <small>
              {" "}
              <Age time={at} />
            </small>
          )}
        </p>
      ))}
    </section>
  );
}

const Words = ({ children }: { children: ComponentChildren }) => <span dir="auto">{children}</span>;
