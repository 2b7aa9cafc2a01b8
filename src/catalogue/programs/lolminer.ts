import { always, dual, type MiningProgram, named, when } from "../mining-program.ts";

const pool = [always("--pool", "{host}:{port}", "--user", "{user}", "--pass", "{password}"), when("worker", "--worker", "{worker}"), when("tls", "--tls", "on"), when("noTls", "--tls", "off")];

export const lolMiner: MiningProgram = {
  id: "LolMiner",
  name: "lolMiner",
  api: "lolminer",
  devices: ["nvidia", "amd", "intel"],
  executable: { linux: "lolMiner", windows: "lolMiner.exe", macos: null },
  command: {
    start: [always("--algo", "{algorithm}")],
    pool,
    spare: pool,
    dual: [
      always("--dualmode", "{algorithm2}", "--dualpool", "{host}:{port}", "--dualuser", "{user}"),
      always("--dualpass", "{password}"),
      when("worker", "--dualworker", "{worker}"),
      when("tls", "--dualtls", "on"),
    ],
    api: [always("--apihost", "127.0.0.1", "--apiport", "{apiPort}")],
    supervised: [always("--watchdog", "exit", "--nocolor", "on")],
    schemes: { plain: "", tls: "" },
  },
  algorithms: named(`
    autolykos2=AUTOLYKOS2 autolykos2-blocx=AUTOLYKOS2 beamhash3=BEAM-III blake3-alephium=ALEPH cuckaroo29=CR29
    cuckaroo29b=CR29-40 cuckaroo29s=CR29-32 cuckaroo30=C30CTX cuckarood29=C29D cuckaroom29=C29M cuckatoo31=C31
    cuckatoo32=C32 cuckoocycle=C29AE equihash-125-4=FLUX equihash-144-5=EQUI144_5 equihash-150-5=BEAM-I
    equihash-150-5-3=BEAM-II equihash-192-7=EQUI192_7 equihash-210-9=EQUI210_9 etchash=ETCHASH ethash=ETHASH
    ethashb3=ETHASHB3 fishhash=FISHHASH karlsenhash=KARLSEN karlsenhashv2=KARLSENV2 kheavyhash=KASPA nexapow=NEXA
    octopus=OCTOPUS pyrinhash=PYRIN pyrinhashv2=PYRINV2 sha256ton=GRAM sha512256d=RADIANT ubqhash=UBQHASH`),
  dual: {
    ...dual("etchash ethash ubqhash", "blake3-alephium=ALEPHDUAL kheavyhash=KASPADUAL sha256ton=TONDUAL"),
    ...dual("ethashb3", "blake3-alephium=ALEPHDUAL karlsenhash=KARLSENDUAL pyrinhash=PYRINDUAL sha512256d=RXDDUAL"),
    ...dual("fishhash", "blake3-alephium=ALEPHDUAL karlsenhash=KARLSENDUAL pyrinhash=PYRINDUAL sha256ton=TONDUAL sha512256d=RXDDUAL"),
  },
  options: "getopt",
  reserved: ["--config", "--json", "--profile", "--log", "--no-oc-reset"],
  tuning: {
    powerLimit: { flag: "--pl", separator: ",", keep: "*" },
    coreClock: { flag: "--cclk", separator: ",", keep: "*" },
    memoryClock: { flag: "--mclk", separator: ",", keep: "*" },
    fan: { flag: "--fan", separator: ",", keep: "*" },
  },
  quit: null,
  badConfigurationExits: [],
  download: {
    version: "1.98a",
    url: {
      "linux-x64": "https://github.com/Lolliedieb/lolMiner-releases/releases/download/1.98a/lolMiner_v1.98a_Lin64.tar.gz",
      "windows-x64": "https://github.com/Lolliedieb/lolMiner-releases/releases/download/1.98a/lolMiner_v1.98a_Win64.zip",
    },
    sums: null,
  },
};
