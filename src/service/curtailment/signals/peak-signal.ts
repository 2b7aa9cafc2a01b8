import { z } from "zod";
import { mostWindows, type PeakSignal, PeakWindow } from "../../../contract/signal-settings.ts";
import { bodyOf } from "./hook-signal.ts";
import { monthOf, peakAt } from "./peak-windows.ts";
import type { SignalReading, SignalSource, SourceContext, Wish } from "./signal.ts";

/** What a peak signal keeps across restarts: the list that its hook has sent, and the peaks of the month. */
export const PeakMemory = z.object({
  windows: z.array(PeakWindow).max(mostWindows).optional(),
  month: z.string().optional(),
  starts: z.array(z.number()).optional(),
});
export type PeakMemory = z.infer<typeof PeakMemory>;

/** The body of the hook of a peak signal, which replaces its list. */
const PeakHookBody = z.strictObject({ windows: z.array(PeakWindow).max(mostWindows) });

export interface PeakContext extends SourceContext {
  /** Time zone of display. */
  readonly zone: () => string | undefined;
  readonly memory: { get(): PeakMemory; set(memory: PeakMemory): void };
}

/** Times of expected peaks. Nothing of it can become stale: the list holds until another replaces it. */
export function peakSignal(settings: PeakSignal, context: PeakContext): SignalSource {
  const { now, monotonicNow, memory, zone, changed } = context;
  const idle = { wish: { kind: "run" }, value: null } as const;

  /** Whether a peak may be curtailed; it then counts for its month. */
  const isAllowed = (start: number): boolean => {
    const { perMonth, hours } = settings;
    if (perMonth === undefined) return true;
    const month = monthOf(start, hours?.timeZone ?? zone());
    const kept = memory.get();
    const starts = kept.month === month ? (kept.starts ?? []) : [];
    if (starts.includes(start)) return true;
    if (starts.length >= perMonth) return false;
    memory.set({ ...kept, month, starts: [...starts, start] });
    return true;
  };
  const readingNow = (): SignalReading => {
    const heard = monotonicNow();
    const peak = peakAt(now(), memory.get().windows ?? settings.windows, settings, zone());
    if (peak === null) return { ...idle, heard, problem: null, refused: null };
    if (!isAllowed(peak.start))
      return { ...idle, heard, problem: null, refused: `this month has had its ${settings.perMonth} curtailments` };
    const { start, end: until } = peak;
    const id = `peak ${start} ${until}`;
    const value = new Date(start).toISOString();
    const wish: Wish = { kind: "curtail", id, target: null, until, urgent: false, text: "" };
    return { wish, heard, value, problem: null, refused: null };
  };
  let reading = readingNow();
  return {
    get reading() {
      return reading;
    },
    turn: async () => {
      reading = readingNow();
    },
    receive: (payload) => {
      const { windows } = bodyOf(PeakHookBody, payload);
      memory.set({ ...memory.get(), windows });
      reading = readingNow();
      changed();
    },
    close: () => undefined,
  };
}
