import type { Command } from "commander";
import { exportedYaml } from "../config/export.ts";
import { readConfig } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isSettingsSection, type SettingsSection } from "../contract/settings.ts";
import { failing } from "./failure.ts";
import { type Client, caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";

/** The commands of `rigbridge config` for a running service. */
export const settingsCommands = (): Command[] => [
  serviceCommand("reload", "rigbridge config reload")
    .description("Has a running service read its configuration file again.")
    .action(failing((options: ServiceOptions) => withService(options, reload))),
  serviceCommand("export", "rigbridge config export > saved.yaml")
    .description("Prints what was saved in the dashboard as a part of a configuration file, without secrets.")
    .action(failing((options: ServiceOptions) => withService(options, exportSettings))),
  serviceCommand("import", "rigbridge config import saved.yaml --dry-run")
    .description("Saves the sections of a file in a running service, as the dashboard would.")
    .argument("<file>", "configuration file with the sections")
    .option("--dry-run", "only say what would change")
    .action(
      failing((file: string, { dryRun = false, ...options }: ServiceOptions & { dryRun?: boolean }) =>
        withService(options, (service) => importSettings(service, file, dryRun)),
      ),
    ),
];

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
