/** Ends a process and, where there are process groups, all that it started. */
export function killGroup(pid: number): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}
