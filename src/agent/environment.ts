/** Variables that mining programs and GPU drivers read. Programs get no other variables of the agent's environment. */
const passed = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "TZ",
  "TMPDIR",
  "LD_LIBRARY_PATH",
  "DISPLAY",
  "XAUTHORITY",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  // Windows; names there are not case-sensitive.
  "SYSTEMROOT",
  "SYSTEMDRIVE",
  "WINDIR",
  "TEMP",
  "TMP",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "NUMBER_OF_PROCESSORS",
  "PROCESSOR_ARCHITECTURE",
]);
const passedPrefixes = /^(LC_|CUDA_|NVIDIA_|GPU_|HIP_|HSA_|ROCR_|OCL_|ZE_)/;

/** The environment of a program: no token of the agent, and GPUs in the order of their PCI buses. */
export function programEnvironment(own: NodeJS.ProcessEnv, mark: string): Record<string, string> {
  const [name = "", value = ""] = mark.split("=");
  return { ...commandEnvironment(own), CUDA_DEVICE_ORDER: "PCI_BUS_ID", [name]: value };
}

/** The environment of a command: no token of the agent. */
export function commandEnvironment(own: NodeJS.ProcessEnv): Record<string, string> {
  const kept = Object.entries(own).flatMap(([key, each]): [string, string][] =>
    each !== undefined && (passed.has(key.toUpperCase()) || passedPrefixes.test(key)) ? [[key, each]] : [],
  );
  return Object.fromEntries(kept);
}
