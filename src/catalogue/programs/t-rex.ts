import { always, dual, type MiningProgram, named, when } from "../mining-program.ts";

const pool = [
  always("-o", "{scheme}{host}:{port}", "-u", "{user}", "-p", "{password}"),
  when("worker", "-w", "{worker}"),
];

/** Its API key is made by the program itself from a password, so the agent sets none and the API stays read-only. */
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
    dual: [
      always("--dual-algo", "{algorithm2}", "--url2", "{scheme}{host}:{port}", "--user2", "{user}"),
      always("--pass2", "{password}"),
      when("worker", "--worker2", "{worker}"),
    ],
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
  reserved: [
    "--api-key",
    "--api-read-only",
    "--api-https",
    "--api-generate-key",
    "--api-webserver-cert",
    "--api-webserver-pkey",
    "-c",
    "--config",
    "-l",
    "--log-path",
    "--autoupdate",
    "--script-start",
    "--script-exit",
    "--script-epoch-change",
    "--script-crash",
    "--script-low-hash",
    "--watchdog-exit-mode",
  ],
  tuning: { coreClock: { flag: "--lock-cclock", separator: ",", keep: "0" } },
  quit: null,
  badConfigurationExits: [],
  download: null,
};
