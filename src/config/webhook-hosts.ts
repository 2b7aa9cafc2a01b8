import { isIPv6 } from "node:net";
import { z } from "zod";
import { hostIn, portIn } from "../link/address.ts";

/** An allowed target of web hooks. */
interface HookHost {
  readonly host: string;
  /** Null: every port. */
  readonly port: number | null;
}

/** Undefined if it is not a host. */
export function hookHost(text: string): HookHost | undefined {
  if (/[\s/?#@\\*]/.test(text)) return undefined;
  const written = isIPv6(text) ? `[${text}]` : text;
  if (!URL.canParse(`http://${written}`)) return undefined;
  // The port as written: a URL leaves out 80.
  const [, port] = /:(\d+)$/.exec(written.replace(/^\[.*\]/, "")) ?? [];
  return { host: hostIn(new URL(`http://${written}`)), port: port === undefined ? null : Number(port) };
}

export const WebhookHosts = z
  .array(
    z
      .string()
      .max(300)
      .refine(
        (text) => hookHost(text) !== undefined,
        "must be a host, or a host with a port, such as 192.168.1.5:1880",
      ),
  )
  .max(1_000)
  .default([])
  .describe(
    "hosts to which rules of users limited to some groups or pools may send web hooks, such as hooks.example or " +
      "192.168.1.5:1880; without a port = every port; a name does not stand for its address; absent = none",
  );

/** Whether a web address is at one of these hosts, by their literal names. */
export function isListedHost(hosts: readonly string[], url: URL): boolean {
  const [host, port] = [hostIn(url), portIn(url)];
  return hosts.some((text) => {
    const listed = hookHost(text);
    return listed?.host === host && (listed.port === null || listed.port === port);
  });
}
