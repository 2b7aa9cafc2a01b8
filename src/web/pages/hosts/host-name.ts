import type { Host } from "../../../contract/resources.ts";

/** What a host is called: its description, else its name in the network. */
export const hostName = ({ description, hostname }: Pick<Host, "description" | "hostname">): string =>
  description === "" ? hostname : description;
