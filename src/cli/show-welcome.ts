import type { Logger } from "pino";
import { loopback } from "../http/security.ts";
import { isColoured } from "./colours.ts";
import { type Served, welcome } from "./welcome.ts";

/** Prints on a terminal, or logs, that the service is ready. */
export async function showWelcome(served: Served, loginCode: () => string | null, log: Logger): Promise<void> {
  const { ready, advice } = welcome(served);
  if (process.stdout.isTTY) {
    console.log(`\n${[ready, ...advice, ...(await phoneLines(served, loginCode))].join("\n")}\n`);
    return;
  }
  log.info({ url: served.url, miners: served.miners, demoMiners: served.demoMiners }, ready);
  for (const line of advice) if (line !== "") log.info(line);
}

/** A QR code for a phone, which can open the dashboard only beyond this machine. Loaded only on a terminal. */
async function phoneLines({ url }: Served, loginCode: () => string | null): Promise<string[]> {
  if (loopback.has(new URL(url).hostname.replace(/^\[|\]$/g, ""))) return [];
  const code = loginCode();
  const { qrLines } = await import("./qr.ts");
  const once = code === null ? "" : "; it logs in once, within 10 minutes";
  const address = code === null ? url : `${url}/#${new URLSearchParams({ code })}`;
  return ["", `For a phone in this network${once}:`, "", ...qrLines(address, isColoured(process.stdout)), "", address];
}
