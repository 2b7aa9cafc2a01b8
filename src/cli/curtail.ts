import { Command, InvalidArgumentError } from "commander";
import { csvOf } from "../contract/csv.ts";
import { type Curtailment, curtailmentTable as csvTable } from "../contract/curtailment.ts";
import { Duration } from "../contract/duration.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isColoured } from "./colours.ts";
import { confirm } from "./confirm.ts";
import {
  changesFrom,
  type TargetOptions,
  untilFrom,
  type WantedOptions,
  wantedFrom,
  withTargetOptions,
  withWantedOptions,
} from "./curtail-options.ts";
import { curtailmentLine, curtailmentTable, planTable, previewText, reportText } from "./curtail-text.ts";
import { failing } from "./failure.ts";
import { caller, examples, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { printable } from "./table.ts";

interface JsonOption extends ServiceOptions {
  readonly json?: true;
}

interface StartOptions extends WantedOptions, JsonOption {
  readonly reason: string;
  readonly until?: string;
  readonly requestKey?: string;
}

interface ChangeOptions extends TargetOptions, JsonOption {
  readonly until?: string;
}

interface AskingOptions extends JsonOption {
  readonly yes?: true;
}

interface DrillOptions extends AskingOptions {
  readonly real?: true;
  readonly lasts: number;
}

export function curtailCommand(): Command {
  const curtail = new Command("curtail").description(
    "Has rigs take less power for a time, through a running service (docs/curtailment.md).",
  );
  curtail.addHelpText("after", examples("rigbridge curtail start --reduce 2MW --places Texas --reason peak"));
  const commands = [
    withWantedOptions(serviceCommand("preview", "rigbridge curtail preview --reduce 2MW --places Texas"))
      .description("Shows what a curtailment would change, by the last readings. Nothing is sent.")
      .action(failing(preview)),
    withWantedOptions(
      serviceCommand(
        "start",
        'rigbridge curtail start --reduce 2MW --places Texas --until 18:00 --reason "peak of the grid"',
        "rigbridge curtail start --plan peak --reason test",
      ),
    )
      .description("Begins a curtailment.")
      .requiredOption("--reason <text>", "why, for the list and the report")
      .option(
        "--until <time>",
        "when it ends automatically: 2h, 18:00 or 2026-05-01T18:00:00Z (default: when it is ended)",
      )
      .option("--request-key <key>", "a second start with this key shows the curtailment of the first")
      .action(failing(start)),
    serviceCommand("list", "rigbridge curtail list")
      .description("Lists the curtailments, newest first.")
      .option("--active", "only those that are not over")
      .action(failing(list)),
    withTargetOptions(
      serviceCommand(
        "change",
        "rigbridge curtail change 7 --reduce 3MW --until 20:00",
        "rigbridge curtail change 7 --until never",
      ),
      "when it began",
    )
      .description("Changes the target or the end of a curtailment; its rigs follow at once.")
      .argument("<id>", "id of the curtailment", idIn)
      .option("--until <time>", "when it ends automatically, as for start; never: when it is ended")
      .action(failing(change)),
    serviceCommand("end", "rigbridge curtail end 7")
      .description("Ends a curtailment: its rigs get back the power that they had.")
      .argument("<id>", "id of the curtailment", idIn)
      .action(failing(end)),
    serviceCommand("release", "rigbridge curtail release 7 --yes")
      .description("Ends a curtailment and leaves its rigs as they are, stopped or lowered.")
      .argument("<id>", "id of the curtailment", idIn)
      .option("--yes", "do not ask first")
      .action(failing(release)),
    serviceCommand("report", "rigbridge curtail report 7", "rigbridge curtail report 7 --csv > curtailment.csv")
      .description("Shows what a curtailment did: its power, and each of its rigs.")
      .argument("<id>", "id of the curtailment", idIn)
      .option("--csv", "print a table with a row for each rig")
      .action(failing(report)),
    serviceCommand("plans", "rigbridge curtail plans")
      .description("Lists the plans for curtailments.")
      .action(failing(plans)),
    serviceCommand("drill", "rigbridge curtail drill peak", "rigbridge curtail drill peak --real --lasts 10m")
      .description("Tries a plan: reads its rigs and reports what it would do.")
      .argument("<plan>", "key of the plan")
      .option("--real", "curtail the rigs for some minutes")
      .option("--lasts <duration>", "how long a real drill lasts, 1m to 1d", durationIn, 600)
      .option("--yes", "do not ask first")
      .action(failing(drill)),
  ];
  for (const command of commands)
    curtail.addCommand(command.option("--json", "print JSON, in SI units").copyInheritedSettings(curtail));
  return curtail;
}

function idIn(text: string): number {
  if (!/^\d{1,14}$/.test(text))
    throw new InvalidArgumentError("It must be a number; `rigbridge curtail list` shows the ids.");
  return Number(text);
}

function durationIn(text: string): number {
  const { success, data, error } = Duration(60, 86_400).safeParse(text);
  if (!success) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`);
  return data;
}

const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2));

function print(curtailment: Curtailment, { json }: { readonly json?: true }): void {
  if (json) printJson(curtailment);
  else console.log(printable(curtailmentLine(curtailment)));
}

async function preview(options: WantedOptions & JsonOption): Promise<void> {
  const wanted = wantedFrom(options);
  const found = await withService(options, (service) => service.previewCurtailment(wanted, caller));
  if (options.json) printJson(found);
  else console.log(previewText(found));
}

async function start({ reason, until, requestKey: key, ...options }: StartOptions): Promise<void> {
  const wanted = wantedFrom(options);
  const body = { ...wanted, reason, key, until: until === undefined ? undefined : untilFrom(until, Date.now()) };
  print(await withService(options, (service) => service.startCurtailment(body, caller)), options);
}

async function list({ active, json, ...options }: JsonOption & { readonly active?: true }): Promise<void> {
  const listed = await withService(options, (service) => service.listCurtailments({ active, limit: 100 }, caller));
  if (json) printJson(listed);
  else if (listed.length === 0) console.log(active ? "No curtailment is under way." : "There are no curtailments.");
  else console.log(curtailmentTable(listed, isColoured(process.stdout)).join("\n"));
}

async function change(id: number, options: ChangeOptions): Promise<void> {
  const changes = changesFrom(options, Date.now());
  print(await withService(options, (service) => service.changeCurtailment({ id, ...changes }, caller)), options);
}

async function end(id: number, options: JsonOption): Promise<void> {
  print(await withService(options, (service) => service.endCurtailment({ id }, caller)), options);
}

/** Whether a person agrees. Throws `input.invalid` without a terminal to ask on. */
async function isAgreed(question: string, yes: true | undefined): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY)
    throw new RigbridgeError("input.invalid", "Nothing was changed: without a terminal to ask on, give --yes");
  if (await confirm(question, process.stdin, process.stderr)) return true;
  console.error("Nothing was changed.");
  process.exitCode = 1;
  return false;
}

async function release(id: number, { yes, ...options }: AskingOptions): Promise<void> {
  if (!(await isAgreed(`End curtailment ${id} and leave its rigs stopped or lowered?`, yes))) return;
  print(await withService(options, (service) => service.releaseCurtailment({ id }, caller)), options);
}

async function report(id: number, { csv, json, ...options }: JsonOption & { readonly csv?: true }): Promise<void> {
  const found = await withService(options, (service) => service.getCurtailmentReport({ id }, caller));
  if (csv) process.stdout.write(csvOf(csvTable(found)));
  else if (json) printJson(found);
  else console.log(reportText(found));
}

async function plans({ json, ...options }: JsonOption): Promise<void> {
  const listed = await withService(options, (service) => service.listCurtailmentPlans({}, caller));
  if (json) printJson(listed);
  else console.log(listed.length === 0 ? "There are no plans for curtailments." : planTable(listed).join("\n"));
}

async function drill(key: string, { real, lasts, yes, ...options }: DrillOptions): Promise<void> {
  if (real && !(await isAgreed(`Curtail the rigs of the plan ${printable(key)} now?`, yes))) return;
  const body = { key, dry: real !== true, lasts };
  print(await withService(options, (service) => service.drillCurtailmentPlan(body, caller)), options);
}
