import type { AgentPermissions } from "../../../contract/agent.ts";
import type { HostSoftware } from "../../../contract/resources.ts";
import { t } from "../../language.ts";

/** The limits reported by a host's agent; null while it is offline, when anything may be chosen. */
export interface HostLimits {
  readonly permissions: AgentPermissions;
  readonly software: HostSoftware;
}

/** Why a program cannot run on a host; null if it can, or if that is unknown. */
export const whyNotSoftware = (limits: HostLimits | null, software: string): string | null =>
  limits?.software.unsuited.includes(software) === true && !isOwn(limits, software) ? t.hosts.unsuited : null;

/** Whether the host's own configuration declares the program. */
export const isOwn = (limits: HostLimits | null, software: string): boolean =>
  limits?.software.own.includes(software) ?? false;

/** Why the agent cannot download a program; null if it can, or if that is unknown. */
export function whyNotDownload(limits: HostLimits | null, software: string): string | null {
  if (limits === null) return null;
  if (!limits.permissions.downloads) return t.hosts.noDownloads;
  return software === "" || limits.software.downloads.includes(software) ? null : t.hosts.noAddress;
}

/** Why no path can be given; null if one can, or if that is unknown. */
export const whyNotPath = (limits: HostLimits | null): string | null =>
  limits?.permissions.folders.length === 0 ? t.hosts.noFolders : null;

/** The default source of a new managed miner's files: a possible one, preferably the download. */
export function presetFiles(limits: HostLimits | null, software: string) {
  const softwareAutoDownload = whyNotDownload(limits, software) === null;
  return { softwareAutoDownload, softwarePath: softwareAutoDownload ? "" : beginningOf(limits) };
}

/** The allowed folder of programs, as the start of a path. */
function beginningOf(limits: HostLimits | null): string {
  const [folder] = limits?.permissions.folders ?? [];
  if (folder === undefined) return "";
  const slash = folder.includes("\\") ? "\\" : "/";
  return folder.endsWith(slash) ? folder : folder + slash;
}
