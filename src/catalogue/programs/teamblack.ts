import { always, type MiningProgram, named, when } from "../mining-program.ts";

export const teamBlack: MiningProgram = {
  id: "TeamBlackMiner",
  name: "Team Black Miner",
  api: "teamblack",
  devices: ["nvidia", "amd", "intel"],
  executable: { linux: "TBMiner", windows: "TBMiner.exe", macos: null },
  command: {
    start: [always("--algo", "{algorithm}")],
    pool: [
      always("--hostname", "{host}"),
      when("noTls", "--port", "{port}"),
      when("tls", "--ssl", "--ssl-port", "{port}"),
      always("--wallet", "{user}", "--server-passwd", "{password}"),
      when("worker", "--worker-name", "{worker}"),
    ],
    spare: null,
    dual: null,
    api: [always("--api", "--api-ip", "127.0.0.1", "--api-port", "{apiPort}")],
    supervised: [always("--no-ansi")],
    schemes: { plain: "", tls: "" },
  },
  algorithms: named("etchash ethash ethashb3 evrprogpow firopow kawpow meowpow verthash"),
  dual: {},
  options: "getopt",
  reserved: ["-F", "-R", "-c", "--configfile", "-L", "--log", "-l", "--logfile"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "2.44",
    url: {
      "linux-x64": "https://github.com/sp-hash/TeamBlackMiner/releases/download/v2.44/TeamBlackMiner_2_44_Ubuntu_22_04_Cuda_12_9.tar.xz",
    },
    sums: null,
  },
};
