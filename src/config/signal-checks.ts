import { needsMessages } from "../contract/messages.ts";
import { didYouMean } from "../contract/nearest.ts";
import { isRecord } from "../contract/record.ts";
import { SignalSettings } from "../contract/signal-settings.ts";
import type { Finding } from "./document.ts";
import { addressFinding } from "./facility-checks.ts";

/** Mistakes of signals that are valid on their own: keys given twice, unknown hooks, and no broker. */
export function signalFindings(config: Readonly<Record<string, unknown>>, hooks: ReadonlySet<string>): Finding[] {
  const list: unknown[] = Array.isArray(config.signals) ? config.signals : [];
  const seen = new Set<string>();
  return list.flatMap((value, index): Finding[] => {
    const { data: signal } = SignalSettings.safeParse(value);
    if (signal === undefined) return [];
    const path = ["signals", index];
    const findings: Finding[] = [];
    if (seen.has(signal.key))
      findings.push({ path: [...path, "key"], message: "is the key of an entry before it too" });
    seen.add(signal.key);
    if ("address" in signal) findings.push(...addressFinding(path, signal.address));
    if (signal.kind === "mqtt" && !isRecord(config.mqtt))
      findings.push({ path: [...path, "kind"], message: needsMessages });
    const hook = "hook" in signal ? signal.hook : undefined;
    if (hook !== undefined && !hooks.has(hook))
      findings.push({
        path: [...path, "hook"],
        message: `there is no web hook "${hook}"${didYouMean(hook, [...hooks])}`,
      });
    return findings;
  });
}
