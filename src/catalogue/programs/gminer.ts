import { always, dual, type MiningProgram, named, when } from "../mining-program.ts";

const pool = [always("--server", "{host}:{port}", "--user", "{user}", "--pass", "{password}"), when("worker", "--worker", "{worker}"), when("tls", "--ssl", "1"), when("noTls", "--ssl", "0")];

export const gMiner: MiningProgram = {
  id: "GMiner",
  name: "GMiner",
  api: "gminer",
  devices: ["nvidia", "amd"],
  executable: { linux: "miner", windows: "miner.exe", macos: null },
  command: {
    start: [always("--algo", "{algorithm}")],
    pool,
    spare: pool,
    dual: [always("--dalgo", "{algorithm2}", "--dserver", "{host}:{port}", "--duser", "{user}", "--dpass", "{password}"), when("worker", "--dworker", "{worker}"), when("tls", "--dssl", "1")],
    api: [always("--api", "{apiPort}")],
    supervised: [always("--watchdog", "0", "--color", "0")],
    schemes: { plain: "", tls: "" },
  },
  algorithms: named(`
    autolykos2 beamhash3=beamhash cuckaroo30=cortex cuckoocycle=aeternity equihash-125-4=125_4 equihash-144-5=144_5
    equihash-210-9=210_9 etchash ethash firopow=firo karlsenhash kawpow kheavyhash octopus progpow-sero=sero
    sccpow=firo sha256ton=ton sha512256d=radiant`),
  dual: {
    ...dual("autolykos2 octopus", "kheavyhash sha512256d=radiant"),
    ...dual("etchash", "kheavyhash sha256ton=ton sha512256d=radiant"),
    ...dual("ethash", "kheavyhash sha256ton=ton"),
  },
  options: "getopt",
  reserved: ["-l", "--logfile", "--config", "-w", "--watchdog", "--watchdog_mode"],
  tuning: { coreClock: { flag: "--lock_cclock", separator: " ", keep: "0" } },
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "3.44",
    url: {
      "linux-x64": "https://github.com/develsoftware/GMinerRelease/releases/download/3.44/gminer_3_44_linux64.tar.xz",
      "windows-x64": "https://github.com/develsoftware/GMinerRelease/releases/download/3.44/gminer_3_44_windows64.zip",
    },
    sums: null,
  },
};
