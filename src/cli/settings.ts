import { Command } from "commander";
import { connectService } from "../client/index.ts";
import { exportedYaml } from "../config/export.ts";
import { readConfig } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isSettingsSection, type SettingsSection } from "../contract/settings.ts";
import { failing } from "./failure.ts";
import { type ServiceOptions, secretsHelp, serviceOptions, withAdvice } from "./service-options.ts";

const caller = { actor: "command line" };

/** The commands of `rigbridge config` for a running service. */
export const settingsCommands = (): Command[] => [
  ofService("reload", "Has a running service read its configuration file again.").action(
    failing((options: ServiceOptions) => withService(options, reload)),
  ),
  ofService(
    "export",
    "Prints what was saved in the dashboard as a part of a configuration file, without secrets.",
  ).action(failing((options: ServiceOptions) => withService(options, exportSettings))),
  ofService("import", "Saves the sections of a file in a running service, as the dashboard would.")
    .argument("<file>", "configuration file with the sections")
    .option("--dry-run", "only say what would change")
    .action(
      failing((file: string, { dryRun = false, ...options }: ServiceOptions & { dryRun?: boolean }) =>
        withService(options, (service) => importSettings(service, file, dryRun)),
      ),
    ),
];

function ofService(name: string, description: string): Command {
  const command = new Command(name).description(description).addHelpText("after", secretsHelp);
  for (const option of serviceOptions()) command.addOption(option);
  return command;
}

type Client = ReturnType<typeof connectService>;

async function withService(
  { service: url, key, locale }: ServiceOptions,
  use: (service: Client) => Promise<void>,
): Promise<void> {
  const service = connectService({ url, key, ...(locale === undefined ? {} : { locale }) });
  try {
    await use(service);
  } catch (error) {
    throw withAdvice(error, url);
  } finally {
    await service.close();
  }
}

async function reload(service: Client): Promise<void> {
  const { message } = await service.reloadSettings({}, caller);
  console.log(message);
}

async function exportSettings(service: Client): Promise<void> {
  const { sections } = await service.listSettings({}, caller);
  const { text, variables } = exportedYaml(sections.filter(({ owner }) => owner === "store"));
  process.stdout.write(text);
  if (variables.length > 0)
    console.error(`Secrets are not printed; set these environment variables: ${variables.join(", ")}`);
}

/** All sections are checked before the first is saved. */
async function importSettings(service: Client, file: string, dryRun: boolean): Promise<void> {
  const { written } = (await readConfig(file)).file;
  const keys = Object.keys(written);
  const others = keys.filter((key) => !isSettingsSection(key));
  if (others.length > 0)
    throw new RigbridgeError(
      "config.invalid",
      `${file} has keys that cannot be saved in a service: ${others.join(", ")}`,
    );
  const sections = keys.filter(isSettingsSection);
  const save = (section: SettingsSection, isTrial: boolean) =>
    service.saveSettings({ section, value: written[section], ...(isTrial ? { dryRun: true } : {}) }, caller);
  for (const isTrial of dryRun ? [true] : [true, false])
    for (const section of sections) {
      const { changes, effects } = await save(section, isTrial);
      if (isTrial === dryRun)
        console.log(
          [`${section}: ${changes.length === 0 ? "no change" : changes.join("; ")}`, ...effects].join("\n  "),
        );
    }
}
