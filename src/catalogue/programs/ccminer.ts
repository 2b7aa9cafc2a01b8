import { always, type MiningProgram, named } from "../mining-program.ts";

const pool = [always("-o", "{scheme}{host}:{port}", "-u", "{login}", "-p", "{password}")];

/** Without --api-remote, its API is read-only. */
export const ccMiner: MiningProgram = {
  id: "CcMiner",
  name: "ccminer (tpruvot)",
  api: "ccminer",
  devices: ["nvidia"],
  executable: { linux: "ccminer", windows: "ccminer.exe", macos: null },
  command: {
    start: [always("-a", "{algorithm}")],
    pool,
    spare: null,
    dual: null,
    api: [always("-b", "127.0.0.1:{apiPort}")],
    supervised: [always("--no-color")],
    schemes: { plain: "stratum+tcp://", tls: null },
  },
  algorithms: named(`
    allium bastion bitcore blake blake2b blake2s blake3-decred=decred blakecoin blakevanilla=vanilla bmw c11=c11/flax
    cryptonight-lite=cryptolight cryptonight-rwz=graft cryptonightxtl=stellite deep dmd-gr equihash exosis fresh fugue256
    groestl hmq1725 jha=jackpot keccak keccakc lbry luffa lyra2re=lyra2 lyra2rev2=lyra2v2 lyra2rev3=lyra2v3 lyra2z
    myriadgroestl=myr-gr neoscrypt nist5 pentablake=penta phi phi2 polytimos quark qubit scrypt scryptjanenf=scrypt-jane
    scryptn11=scrypt:10 sha256=sha256d sha256q sha256t sib skein skein2 skunk sonoa timetravel tribus veltor whirlpool
    whirlpoolx wildkeccak x11 x11evo x12 x13 x14 x15 x16r x16s x17 zr5`),
  dual: {},
  options: "getopt",
  reserved: ["-c", "--config", "-B", "-S"],
  tuning: {},
  quit: null,
  badConfigurationExits: [1],
  download: null,
};

export const cpuMinerOpt: MiningProgram = {
  ...ccMiner,
  id: "CpuMinerOpt",
  name: "cpuminer-opt (JayDDee)",
  devices: ["cpu"],
  executable: { linux: "cpuminer", windows: "cpuminer.exe", macos: null },
  command: { ...ccMiner.command, schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" } },
  algorithms: named(`
    allium anime argon2d-dyn=argon2d500 argon2d1000 argon2d16000 argon2d250 argon2d4096 axiom bcd=x13bcd bitcore blake
    blake2b blake2s blakecoin blakevanilla=vanilla bmw bmw512 c11 cpupower deep dmd-gr groestl hex hmq1725 hodl
    hsr=x13sm3 interchained jha keccak keccakc lbry lyra2h lyra2re lyra2rev2=lyra2v2 lyra2rev3 lyra2z lyra2z330 m7m
    minotaur minotaurx myriadgroestl=myr-gr neoscrypt nist5 pentablake phi=phi1612 phi2 polytimos quark qubit scrypt
    scrypt8k=scrypt:8192 scryptjane16=scryptjane:16 scryptjanenf=scryptjane:nf scryptn11=scrypt:2048 scryptn2
    sha256=sha256d sha256dt sha256q sha256t sha3d sha512256d sib skein skein2 skunk sonoa timetravel tribus veltor
    verthash whirlpoolx x11 x11evo x12 x13 x14 x15 x16r x16rt x16rv2 x16s x17 x20r x21s x22i x25x xevan yescrypt
    yescryptr16 yescryptr32 yescryptr8 yescryptr8g yespower yespower-b2b=power2b yespoweradvc=yespowerADVC
    yespowerarwn=yespowerARWN yespoweric=yespowerIC yespoweriots=yespowerIOTS yespowerlitb=yespowerLITB
    yespowerltncg=yespowerLTNCG yespowermgpc=yespowerMGPC yespowerr16 yespowersugar=yespowerSUGAR
    yespowertide=yespowerTIDE yespowerurx=yespowerURX zr5`),
  badConfigurationExits: [],
};

export const cryptoDredge: MiningProgram = {
  ...ccMiner,
  id: "CryptoDredge",
  name: "CryptoDredge",
  executable: { linux: "CryptoDredge", windows: "CryptoDredge.exe", macos: null },
  command: {
    ...ccMiner.command,
    spare: pool,
    supervised: [always("--no-watchdog", "--no-color")],
    schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
  },
  algorithms: named(`
    argon2-chukwa=chukwa argon2-chukwav2=chukwa2 argon2d-dyn argon2d-nim argon2d250 argon2d4096 cryptonight-ccx=cnconceal
    cryptonight-gpu=cngpu cryptonight-half=cnfast2 cryptonight-haven=cnhaven cryptonight-heavy=cnheavy
    cryptonight-tlo=cntlo cryptonight-turtle=cnturtle cryptonight-upx2=cnupx2 cryptonight-zls=cnzls kawpow mtp
    mtptcr=mtp-tcr`),
  reserved: [...ccMiner.reserved, "--log"],
  badConfigurationExits: [],
};

/** Its ccminer API is off; its HTTP one resembles T-Rex's. */
export const zEnemy: MiningProgram = {
  ...ccMiner,
  id: "ZEnemy",
  name: "z-enemy",
  api: "zenemy",
  executable: { linux: "z-enemy", windows: "z-enemy.exe", macos: null },
  command: {
    ...ccMiner.command,
    spare: pool,
    api: [always("--api-bind=0", "--api-bind-http=127.0.0.1:{apiPort}")],
    supervised: [],
    schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
  },
  algorithms: named(`
    aeriumx=aergo bcd bitcore c11 hex hsr kawpow phi phi2 polytimos=poly skunk sonoa timetravel tribus x16r x16rv2 x16s
    x17 xevan`),
  reserved: [...ccMiner.reserved, "-b", "-l", "--log"],
  badConfigurationExits: [],
};
