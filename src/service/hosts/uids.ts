import type { Store } from "../../store/index.ts";

/** Maximum length of a host's uid: `-m<id>` of its managed miners follows. */
const longest = 48;

/** A permanent, unique name derived from the host name. */
export function uidFor(hostname: string, hosts: Store["hosts"]): string {
  const taken = new Set(hosts.all().map(({ uid }) => uid));
  const name =
    hostname
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, longest)
      .replace(/^-|-$/g, "") || "host";
  let uid = name;
  for (let next = 2; taken.has(uid); next += 1) uid = `${name}-${next}`;
  return uid;
}

/** Gives uids to the hosts of earlier releases. */
export async function nameHosts(hosts: Store["hosts"]): Promise<void> {
  for (const { id, uid, hostname } of hosts.all())
    if (uid === null) await hosts.change(id, { uid: uidFor(hostname, hosts) });
}

export const minerUid = (hostUid: string, minerId: number): string => `${hostUid}-m${minerId}`;
