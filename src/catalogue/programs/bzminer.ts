import { always, dual, type MiningProgram, named, when } from "../mining-program.ts";

export const bzMiner: MiningProgram = {
  id: "BzMiner",
  name: "BzMiner",
  api: "bzminer",
  devices: ["nvidia", "amd", "intel", "cpu"],
  executable: { linux: "bzminer", windows: "bzminer.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool: [always("-w", "{user}", "--pool_password", "{password}"), when("worker", "-r", "{worker}"), always("-p", "{scheme}{host}:{port}")],
    // One option with several addresses; all of them get the first one's login.
    spare: [always("{scheme}{host}:{port}")],
    dual: [always("--a2", "{algorithm2}", "--p2", "{scheme}{host}:{port}", "--w2", "{user}"), always("--pool_password2", "{password}"), when("worker", "--r2", "{worker}")],
    api: [always("--http_enabled", "1", "--http_address", "127.0.0.1", "--http_port", "{apiPort}"), always("--http_password", "{apiToken}")],
    supervised: [always("--nc", "1", "--no_watchdog")],
    schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
  },
  algorithms: named(`
    argon2ixi=ixi autolykos2=ergo autolykos2-blocx=blocx blake3-alephium=alph dynexsolve=dynex etchash ethash
    ethashb3=rethereum fishhash=ironfish janushash=warthog karlsenhash=karlsen kawpow kheavyhash=kaspa nexapow=nexa olhash
    sha256dt=SHA256dt sha512256d=radiant skein2=woodcoin verushash=verus xelishashv3=xelis`),
  dual: {
    ...dual("autolykos2", "kheavyhash=kaspa sha512256d=radiant"),
    ...dual("etchash ethash", "blake3-alephium=alph fishhash=ironfish kheavyhash=kaspa sha512256d=radiant"),
  },
  options: "getopt",
  // -o is its log file.
  reserved: ["-c", "-o"],
  tuning: { powerLimit: { flag: "--oc_power_limit", separator: " ", keep: "0" }, fan: { flag: "--oc_fan_speed", separator: " ", keep: "-1" } },
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "24.0.2",
    url: {
      "linux-x64": "https://github.com/bzminer/bzminer/releases/download/v24.0.2/bzminer_v24.0.2_linux.tar.gz",
    },
    sums: null,
  },
};
