import { always, dual, type MiningProgram, named, when } from "../mining-program.ts";

export const bzMiner: MiningProgram = {
  id: "BzMiner",
  name: "BzMiner",
  api: "bzminer",
  devices: ["nvidia", "amd", "intel", "cpu"],
  executable: { linux: "bzminer", windows: "bzminer.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool: [
      always("-p", "{scheme}{host}:{port}", "-w", "{user}", "--pool_password", "{password}"),
      when("worker", "-r", "{worker}"),
    ],
    spare: null,
    dual: [
      always("--a2", "{algorithm2}", "--p2", "{scheme}{host}:{port}", "--w2", "{user}"),
      always("--pool_password2", "{password}"),
      when("worker", "--r2", "{worker}"),
    ],
    api: [
      always("--http_enabled", "1", "--http_address", "127.0.0.1", "--http_port", "{apiPort}"),
      always("--http_password", "{apiToken}"),
    ],
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
  reserved: ["-c", "-o", "--nc", "--hung_gpu_reboot", "--reboot_minutes"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: null,
};
