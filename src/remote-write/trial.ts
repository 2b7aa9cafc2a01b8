import type { RemoteWriteSettings } from "../config/history.ts";
import { finding, type SettingsFinding } from "../contract/settings.ts";
import { detail } from "../messages/detail.ts";
import { send } from "./receiver.ts";
import { WriteRequestBuilder } from "./write-request.ts";

/** Sends a request without samples. */
export async function tryReceiver(settings: RemoteWriteSettings, signal: AbortSignal): Promise<SettingsFinding> {
  const verdict = await send(settings, new WriteRequestBuilder(0).finish(), signal);
  return verdict.kind === "taken"
    ? finding(true, detail("trial.receiverTakes", { host: new URL(settings.url).host }))
    : finding(false, verdict.why);
}
