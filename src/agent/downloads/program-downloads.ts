import type { DownloadTarget, MiningProgram } from "../../catalogue/mining-program.ts";
import type { Program } from "../../contract/agent.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Preparing } from "../supervisor-parts.ts";
import { type DownloadRequest, type Downloads, downloadOf } from "./index.ts";

/** Downloads for the programs of a host. */
export class ProgramDownloads {
  readonly #downloads: Downloads;
  readonly #target: DownloadTarget | null;
  /** Programs that await confirmation. */
  readonly #waiting = new Map<number, { readonly url: string; readonly confirmed: () => void }>();

  /** `target`: the kind of files for this host. */
  constructor(downloads: Downloads, target: DownloadTarget | null) {
    this.#downloads = downloads;
    this.#target = target;
  }

  /**
   * The executable of a program, downloaded if necessary. The address is the one in this host's catalogue or
   * configuration, whatever the service requests; the service can only add a checksum. If the publisher lists none,
   * waits until an administrator has confirmed it.
   */
  async obtain(
    program: Program,
    entry: MiningProgram,
    report: (step: Preparing) => void,
    signal: AbortSignal,
  ): Promise<string> {
    const request = this.#requestFor(program, entry);
    for (;;) {
      report({ status: "downloading", download: null });
      const obtained = await this.#downloads.obtain(request, signal);
      if (obtained.state === "ready") {
        report({ status: "starting", download: null });
        return obtained.path;
      }
      const { url, bytes, sha256 } = obtained;
      const confirmed = this.#confirmationOf(program.id, url, signal);
      report({ status: "confirming", download: { url, bytes, sha256 } });
      await confirmed;
    }
  }

  /** Pins the checksum that a program waits for; it then starts. */
  async confirm(id: number, sha256: string): Promise<string> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      throw new RigbridgeError("not.possible", "No download of this program awaits confirmation");
    }
    await this.#downloads.confirm(waiting.url, sha256);
    // Other programs may wait for the same file.
    for (const other of this.#waiting.values()) if (other.url === waiting.url) other.confirmed();
    return `The download of ${waiting.url} is confirmed`;
  }

  #requestFor({ files }: Program, entry: MiningProgram): DownloadRequest {
    const request = downloadOf(entry, this.#target);
    if (request === null) {
      const advice = "install it on the host and give its path (softwarePath)";
      throw new RigbridgeError("no.download", `There is no known download of ${entry.name} for this host; ${advice}`);
    }
    const given = files.from === "download" ? files.sha256 : null;
    return { ...request, sha256: request.sha256 ?? given };
  }

  async #confirmationOf(id: number, url: string, signal: AbortSignal): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.set(id, { url, confirmed: resolve });
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        if (signal.aborted) reject(signal.reason);
      });
    } finally {
      this.#waiting.delete(id);
    }
  }
}
