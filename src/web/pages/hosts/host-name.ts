import type { Host } from "../../../contract/resources.ts";

/** The description of a host, otherwise its name on the network. */
export const hostName = ({ description, hostname }: Pick<Host, "description" | "hostname">): string =>
  description === "" ? hostname : description;
