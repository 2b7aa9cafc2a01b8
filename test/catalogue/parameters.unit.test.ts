import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { MiningProgram } from "../../src/catalogue/mining-program.ts";
import { miningPrograms, programOf } from "../../src/catalogue/mining-software.ts";
import { parameterMistakes, splitWords } from "../../src/catalogue/parameters.ts";

const wordsOf = (text: string): readonly string[] => {
  const split = splitWords(text);
  if ("mistake" in split) throw new Error(split.mistake);
  return split.words;
};

const program = (id: string): MiningProgram => {
  const found = programOf(id);
  if (found === undefined) throw new Error(`No program ${id}`);
  return found;
};

describe("parameters are split like a shell splits words", () => {
  test.each([
    ["", []],
    ["  \t ", []],
    ["-a rx/0  -t\t4\n--tls", ["-a", "rx/0", "-t", "4", "--tls"]],
    [`-u 'a b' --pass="c d"`, ["-u", "a b", "--pass=c d"]],
    [`a'b'"c"d`, ["abcd"]],
    [`''  ""`, ["", ""]],
    [`a\\ b \\'c\\' \\\\`, ["a b", "'c'", "\\"]],
    [`"a\\"b\\\\c\\d"`, ['a"b\\c\\d']],
    [`'a\\b'`, ["a\\b"]],
    ["a\\\nb", ["ab"]],
    ["C:\\\\dir", ["C:\\dir"]],
  ])("%j", (text, words) => expect(wordsOf(text)).toEqual(words));

  test.each([
    "$HOME",
    "`id`",
    "$(id)",
    "*",
    "~",
    "a;b",
    "a|b",
    "a&b",
    ">x",
    "<x",
    "#x",
    "{a,b}",
    "!x",
    "%PATH%",
    "(x)",
  ])("%s is an ordinary word", (text) => expect(wordsOf(text)).toEqual([text]));

  test.each([
    [`-u 'a`, "has an unclosed '"],
    [`-u "a`, 'has an unclosed "'],
    ["a\\", "ends with a backslash"],
    ["a\0b", "contains control characters"],
    ["a\u001bb", "contains control characters"],
  ])("%j %s", (text, mistake) => expect(splitWords(text)).toEqual({ mistake }));

  test("words quoted in any way come back as they are, without expansion", () => {
    const character = fc.constantFrom(..."ab0-=/$`\\'\"#*~;|& \t\n{}!%é☃");
    const word = fc.string({ unit: character, maxLength: 8 });
    const quoted = word.chain((text) =>
      fc.constantFrom(...["'", '"', "\\"].map((style) => ({ text, quoted: quote(text, style) }))),
    );
    const gap = fc.constantFrom(" ", "  ", "\t", "\n");
    fc.assert(
      fc.property(fc.array(fc.tuple(quoted, gap)), (list) => {
        const text = list.map(([each, space]) => `${each.quoted}${space}`).join("");
        expect(wordsOf(text)).toEqual(list.map(([each]) => each.text));
      }),
    );
  });
});

/** As a careful person quotes for a shell. */
function quote(text: string, style: string): string {
  if (style === "'") return `'${text.replaceAll("'", `'\\''`)}'`;
  if (style === '"' || text === "" || text.includes("\n")) return `"${text.replace(/["\\$`]/g, "\\$&")}"`;
  return text.replace(/[\s\S]/gu, "\\$&");
}

/** The options of a program's API and those it reserves, as it spells them. */
const reservedOf = ({ command, reserved }: MiningProgram): string[] => {
  const words = [...command.api, ...command.supervised].flatMap(({ args }) => args);
  return [
    ...new Set([...reserved, ...words.filter((word) => /^-+[a-z]/i.test(word)).map((word) => word.replace(/=.*/, ""))]),
  ];
};

describe.each(miningPrograms.map((each) => [each.id, each] as const))("%s", (_, entry) => {
  const reserved = reservedOf(entry);

  (reserved.length > 0 ? test : test.skip)(
    "its API, files and scripts cannot be set by parameters, however they are written",
    () => {
      const value = fc.constantFrom("0.0.0.0", "0.0.0.0:4067", "1", "/etc/passwd", "-1");
      const before = fc.constantFrom("", "-t 4 ", "-x ", "--unknown=1 ", "a 'b c' ");
      fc.assert(
        fc.property(fc.constantFrom(...reserved), value, before, fc.nat(9), (option, text, start, style) => {
          const forms = [
            option,
            `${option} ${text}`,
            `${option}=${text}`,
            `${option}:${text}`,
            `'${option}' '${text}'`,
            `"${option}=${text}"`,
            `${option.slice(0, 2)}''${option.slice(2)} ${text}`,
            option.replace(/^-+/, "$&\\"),
            `${option} ${text} ${option} ${text}`,
            /^-[^-]$/.test(option)
              ? `${option}${text}`
              : option.toUpperCase().replaceAll("-", "_").replace(/^_+/, "--"),
          ];
          const parameters = start + (forms[style] ?? option);
          expect([parameters, parameterMistakes(entry, parameters)]).not.toEqual([parameters, []]);
        }),
      );
    },
  );

  (entry.options === "getopt" ? test : test.skip)("nor abbreviated, nor among other letters", () => {
    for (const option of reserved) {
      if (option.startsWith("--")) {
        for (let length = 3; length <= option.length; length += 1) {
          const short = option.slice(0, length);
          if (entry.ordinary?.includes(short)) continue;
          expect([option, parameterMistakes(entry, `${short}=1`)]).not.toEqual([option, []]);
        }
      } else if (option.length === 2) {
        expect([option, parameterMistakes(entry, `-q${option.slice(1)} 1`)]).not.toEqual([option, []]);
      }
    }
  });

  test.each([
    "--startup-script /tmp/x",
    "--execute=reboot",
    "--api-port 1",
    "--http-port 1",
    "--background",
    "--log-file /x",
    "--cuda-loader=/x.so",
  ])("%s is refused, whether it has that option or not", (parameters) =>
    expect(parameterMistakes(entry, parameters)).toHaveLength(1),
  );
});

test("a mistake names the option without its value", () => {
  expect(parameterMistakes(program("XmrigMiner"), "--http-access-token=secret1 -t 4 --config '/a b' -lx")).toEqual([
    "--http-access-token is set by the agent, or not allowed",
    "--config is set by the agent, or not allowed",
    "a word that begins with -l could be read as -l, which is set by the agent, or not allowed; separate values by a space",
  ]);
  const glued = parameterMistakes(program("CcMiner"), "-phunter2b");
  expect(glued).toHaveLength(1);
  expect(glued.join()).not.toContain("hunter2b");
  expect(parameterMistakes(program("XmrigMiner"), "--htt=x")).toEqual([
    '"--htt" could be read as http-host, which is set by the agent, or not allowed',
  ]);
});

test.each([
  [
    "XmrigMiner",
    "-t 4 --cpu-priority=2 --randomx-1gb-pages --donate-level 1 --randomx-wrmsr=-1 --tls --cpu-max-threads-hint 50",
  ],
  [
    "TrexMiner",
    "-d 0,1 -i 20 --lock-cclock 1200 --coin eth --temperature-limit 80 --dns-https-server 1.1.1.1 --no-strict-ssl",
  ],
  ["LolMiner", "--devices 0,1 --mode a --cclk 1200,* --dualfactor auto --dns-over-https 0 --ethstratum ETHV1"],
  ["GMiner", "-d 0 1 --templimit 80 --proto stratum --pers BgoldPoW --lock_cclock 1200 0"],
  ["TeamRedMiner", "-d 0,1 --eth_config=B750,,A288 --cn_config 15*15:AAA --pool_no_ensub --temp_limit=85"],
  ["NBMiner", "-d 0 -mt 4 -lhr 68 --temperature-limit 80 --strict-ssl"],
  ["RigelMiner", "-d 0 --dual-mode a12:r5.2 --coin rvn --temp-limit tc[60-70] --dns-over-https"],
  ["BzMiner", "--disable 1:0 3:0 -i 20 --oc_lock_core_clock 1200 --update_frequency_ms 60000"],
  ["SrbMinerMulti", "--cpu-threads 4 --gpu-id 0,1 --give-up-limit 3 --retry-time 10 --extended-log"],
  ["TeamBlackMiner", "--cuda-devices [0,1] --xintensity 300 --ssl-verify"],
  ["WildRigMulti", "--opencl-devices 0,1 --opencl-threads 2 --diff-factor 1 --watchdog"],
  ["OneZeroMiner", "-d 0,1 --mallob-endpoint a:1 --cclk 1200,*"],
  ["MiniZ", "-cd 0 1 --gpu-offset=50 --jobtimeout=300"],
  ["CcMiner", "-d 0,1 -i 20 --cpu-priority 3 -N 60 --statsavg=20"],
  ["CpuMinerOpt", "-t 8 --cpu-affinity 0xff --retries 5"],
  ["PhoenixMiner", "-amd -gpus 123 -mi 12 -gt 30 -tt 60"],
  ["EthMiner", "--cuda --cu-grid-size 8192 --farm-recheck 200 -G"],
  ["NanoMiner", "-devices 0,1 -coin etc -cpuThreads 4 -protocol stratum"],
  ["SgMinerGm", "-d 0,1 -I 20 --thread-concurrency 8192 --gpu-threads 2"],
  ["TTMiner", "-d 0 1 -i 100 -coin ETC"],
  ["VerthashMiner", "--verthash-data /data/verthash.dat --all-cu-devices"],
])("%s takes %s", (id, parameters) => expect(parameterMistakes(program(id), parameters)).toEqual([]));
