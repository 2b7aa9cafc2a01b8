import type { AgentPermissions } from "../../../contract/agent.ts";
import type { HostSoftware } from "../../../contract/resources.ts";
import { t } from "../../language.ts";

/** What the agent of a host says of itself; null while it is not connected, when anything may be chosen. */
export interface HostLimits {
  readonly permissions: AgentPermissions;
  readonly software: HostSoftware;
}

/** Why a program cannot run on a host; null if it can, or if that is not known. */
export const whyNotSoftware = (limits: HostLimits | null, software: string): string | null =>
  limits?.software.unsuited.includes(software) === true && !isOwn(limits, software) ? t.hosts.unsuited : null;

/** Whether the host's own configuration says where the program is. */
export const isOwn = (limits: HostLimits | null, software: string): boolean =>
  limits?.software.own.includes(software) ?? false;

/** Why the agent cannot download a program; null if it can, or if that is not known. */
export function whyNotDownload(limits: HostLimits | null, software: string): string | null {
  if (limits === null) return null;
  if (!limits.permissions.downloads) return t.hosts.noDownloads;
  return software === "" || limits.software.downloads.includes(software) ? null : t.hosts.noAddress;
}

/** Why no path can be given; null if one can, or if that is not known. */
export const whyNotPath = (limits: HostLimits | null): string | null =>
  limits?.permissions.folders.length === 0 ? t.hosts.noFolders : null;

/** Where the files of a new managed miner come from: what works there, the download before a path. */
export function presetFiles(limits: HostLimits | null, software: string) {
  const softwareAutoDownload = whyNotDownload(limits, software) === null;
  return { softwareAutoDownload, softwarePath: softwareAutoDownload ? "" : beginningOf(limits) };
}

/** The folder that programs may be in, to be completed. */
function beginningOf(limits: HostLimits | null): string {
  const [folder] = limits?.permissions.folders ?? [];
  if (folder === undefined) return "";
  const slash = folder.includes("\\") ? "\\" : "/";
  return folder.endsWith(slash) ? folder : folder + slash;
}
