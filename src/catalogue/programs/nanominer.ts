import { always, type MiningProgram, named, when } from "../mining-program.ts";

export const nanoMiner: MiningProgram = {
  id: "NanoMiner",
  name: "nanominer",
  api: "nanominer",
  devices: ["nvidia", "amd", "intel", "cpu"],
  executable: { linux: "nanominer", windows: "nanominer.exe", macos: null },
  command: {
    start: [always("-algo", "{algorithm}")],
    pool: [
      always("-pool1", "{host}:{port}", "-wallet", "{user}", "-rigPassword", "{password}"),
      when("worker", "-rigName", "{worker}"),
      // It tries TLS first, so TLS needs no option.
      when("noTls", "-useSSL", "false"),
    ],
    spare: null,
    dual: null,
    // Port 0 turns off its other API, which could reboot the host. Without a password, the web API is read-only.
    api: [always("-webPort", "{apiPort}", "-mport", "0")],
    supervised: [always("-watchdog", "false", "-noLog", "true", "-noColor", "true", "-checkForUpdates", "false")],
    schemes: { plain: "", tls: "" },
  },
  algorithms: named(`
    autolykos2=autolykos cuckaroo30=Cuckaroo30 etchash=EtcHash ethash=Ethash ethashb3=EthashB3 evrprogpow=EvrProgPow
    firopow=FiroPow fishhash karlsenhashv2 kawpow=KawPow octopus=Octopus randomnevo=RandomNEVO randomx=RandomX
    sccpow=SCCPow ubqhash=UbqHash verthash=Verthash verushash=Verushash`),
  dual: {},
  options: "single-dash",
  reserved: ["-webPassword", "-ethmanPassword", "-logPath", "-restarts", "-autoUpdate", "-minHashrate"],
  tuning: {},
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "3.10.0",
    url: {
      "linux-x64": "https://github.com/nanopool/nanominer/releases/download/v3.10.0/nanominer-linux-3.10.0.tar.gz",
    },
    sums: null,
  },
};
