import { always, byArguments, type Command, type MiningProgram, named, when } from "../mining-program.ts";

const pool = [always("-o", "{scheme}{host}:{port}", "-u", "{user}"), when("password", "-p", "{password}"), when("worker", "--rig-id", "{worker}")];

/** Without --http-no-restricted, its API is read-only: a write could load libraries and move the API itself. */
const api = [always("--http-host", "127.0.0.1", "--http-port", "{apiPort}", "--http-access-token", "{apiToken}")];

const command: Command = {
  start: [always("-a", "{algorithm}")],
  pool,
  spare: pool,
  dual: null,
  api,
  supervised: [always("--no-color")],
  schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
};

const reserved = ["-c", "--config", "-d", "--data-dir", "-l", "-B", "--nvml-path", "--export-topology", "--tls-gen"];

const families = `
  cryptonight-ccx=cn/ccx cryptonight-double=cn/double cryptonight-fast=cn/fast cryptonight-half=cn/half
  cryptonight-haven=cn-heavy/xhv cryptonight-heavy=cn-heavy/0 cryptonight-lite-v7=cn-lite/1 cryptonight-r=cn/r
  cryptonight-rto=cn/rto cryptonight-rwz=cn/rwz cryptonight-tlo=cn-pico/tlo cryptonight-tube=cn-heavy/tube
  cryptonight-turtle=cn-pico cryptonight-upx2=cn/upx2 cryptonight-v7=cn/1 cryptonight-v8=cn/2 cryptonight-xao=cn/xao
  cryptonight-zls=cn/zls argon2-chukwa=argon2/chukwa argon2-chukwav2=argon2/chukwav2 ghostrider
  randomx=rx/0 randomx-arq=rx/arq randomx-sfx=rx/sfx randomx-wow=rx/wow randomx-yada=rx/yada`;

/** Its CPU backend stays off unless the CPU mines. */
const kawpow = named("kawpow", "--no-cpu", "--opencl", "--cuda");

export const xmrig: MiningProgram = {
  id: "XmrigMiner",
  name: "XMRig",
  api: "xmrig",
  devices: ["cpu", "nvidia", "amd"],
  executable: { linux: "xmrig", windows: "xmrig.exe", macos: "xmrig" },
  command,
  algorithms: {
    ...named(families),
    ...named("argon2-wrkz=argon2/ninja randomx-graft=rx/graft randomx-v2=rx/2"),
    ...kawpow,
  },
  dual: {},
  options: "getopt",
  reserved,
  ordinary: ["--tls"],
  tuning: {},
  quit: null,
  badConfigurationExits: [2],
  download: {
    version: "6.26.0",
    url: {
      "linux-x64": "https://github.com/xmrig/xmrig/releases/download/v6.26.0/xmrig-6.26.0-linux-static-x64.tar.gz",
      "windows-x64": "https://github.com/xmrig/xmrig/releases/download/v6.26.0/xmrig-6.26.0-windows-x64.zip",
      "macos-x64": "https://github.com/xmrig/xmrig/releases/download/v6.26.0/xmrig-6.26.0-macos-x64.tar.gz",
      "macos-arm64": "https://github.com/xmrig/xmrig/releases/download/v6.26.0/xmrig-6.26.0-macos-arm64.tar.gz",
    },
    sums: "https://github.com/xmrig/xmrig/releases/download/v6.26.0/SHA256SUMS",
  },
};

export const xmrigCc: MiningProgram = {
  ...xmrig,
  id: "XmrigCc",
  name: "XMRigCC",
  executable: { linux: "xmrigMiner", windows: "xmrigMiner.exe", macos: null },
  algorithms: {
    ...named(families),
    ...named(`
      argon2-wrkz=argon2/wrkz argon2ninja=argon2/ninja cryptonight=cn/0 cryptonight-lite=cn-lite/0 mike
      randomscash=rx/scash randomtuske=rx/tuske randomvirel=rx/vrl randomx-graft=rx/grft randomx-xeq=rx/xeq
      randomxdag=rx/xdag`),
    ...kawpow,
  },
  // Its control server can restart it, send it a configuration and run commands.
  reserved: [...reserved, "--cc-url", "--cc-access-token", "--cc-use-tls", "--cc-use-remote-logging", "--daemonized"],
  badConfigurationExits: [],
  download: null,
};

/** It does not mine itself: miners in the network connect to the address that --bind sets. */
export const xmrigProxy: MiningProgram = {
  id: "XmrigProxy",
  name: "xmrig-proxy",
  api: "xmrig-proxy",
  devices: [],
  executable: { linux: "xmrig-proxy", windows: "xmrig-proxy.exe", macos: "xmrig-proxy" },
  command: { ...command, start: [always("--bind", "0.0.0.0:3333")] },
  algorithms: byArguments("randomx"),
  dual: {},
  options: "getopt",
  reserved: [...reserved, "-A"],
  ordinary: ["--tls"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "6.26.0",
    url: { "linux-x64": "https://github.com/xmrig/xmrig-proxy/releases/download/v6.26.0/xmrig-proxy-6.26.0-linux-static-x64.tar.gz" },
    sums: null,
  },
};
