import type { Miner } from "../../../contract/resources.ts";

/** Ports of rigs' own pages, and the port of the mining API, beside which ASICs serve their page at port 80. */
const schemes: Readonly<Record<string, string>> = { "": "http", "80": "http", "443": "https" };
const apiPort = "4028";

/**
 * The address of the rig's own page; null if it has none, or if its address is anything but a host with a port, such as
 * a link that runs a script.
 */
export function ownPage({ hostDescription, hasAsic }: Pick<Miner, "hostDescription" | "hasAsic">): string | null {
  const given = /^(?:(https?):\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::(\d{1,5}))?\/?$/i.exec(
    hostDescription,
  );
  const [, scheme, host, port = ""] = given ?? [];
  if (host === undefined) return null;
  if (scheme !== undefined) return `${scheme.toLowerCase()}://${host}${port === "" ? "" : `:${port}`}/`;
  if (port === apiPort && hasAsic) return `http://${host}/`;
  const usual = schemes[port];
  return usual === undefined ? null : `${usual}://${host}/`;
}
