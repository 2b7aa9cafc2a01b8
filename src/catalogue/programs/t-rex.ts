import { always, dual, type MiningProgram, named, when } from "../mining-program.ts";

const pool = [always("-o", "{scheme}{host}:{port}", "-u", "{user}", "-p", "{password}"), when("worker", "-w", "{worker}")];

/** The program derives its API key from a password, so the agent sets none and the API stays read-only. */
export const tRex: MiningProgram = {
  id: "TrexMiner",
  name: "T-Rex",
  api: "trex",
  devices: ["nvidia"],
  executable: { linux: "t-rex", windows: "t-rex.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool,
    spare: pool,
    dual: [always("--dual-algo", "{algorithm2}", "--url2", "{scheme}{host}:{port}", "--user2", "{user}"), always("--pass2", "{password}"), when("worker", "--worker2", "{worker}")],
    api: [always("--api-bind-http", "127.0.0.1:{apiPort}")],
    supervised: [always("--no-watchdog", "--no-color")],
    schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
  },
  algorithms: {
    ...named(`
      autolykos2 blake3-alephium=blake3 etchash ethash firopow kawpow mtp mtptcr=mtp-tcr octopus progpow-veil progpowz tensority
      vprogpow=progpow-veriblock`),
    ...named("progpow-sero=progpow", "--coin", "sero"),
  },
  dual: dual("ethash", "autolykos2 blake3-alephium=blake3 firopow kawpow octopus"),
  options: "getopt",
  reserved: ["-c", "--config", "-l", "--watchdog-exit-mode"],
  tuning: { coreClock: { flag: "--lock-cclock", separator: ",", keep: "0" } },
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "0.26.8",
    url: {
      "linux-x64": "https://github.com/trexminer/T-Rex/releases/download/0.26.8/t-rex-0.26.8-linux.tar.gz",
      "windows-x64": "https://github.com/trexminer/T-Rex/releases/download/0.26.8/t-rex-0.26.8-win.zip",
    },
    sums: null,
  },
};
