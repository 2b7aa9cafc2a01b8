import { Command } from "commander";
import { connectService } from "../client/index.ts";
import { failing } from "./failure.ts";
import { type ServiceOptions, secretsHelp, serviceOptions, withAdvice } from "./service-options.ts";

export function notifyCommand(): Command {
  const test = new Command("test");
  for (const option of serviceOptions()) test.addOption(option);
  test
    .description("Sends a test message to a channel of a running service, and says what the channel answers.")
    .argument("<channel>", "key of the channel, as in the service's configuration")
    .addHelpText("after", secretsHelp)
    .action(failing(testChannel));
  return new Command("notify").description("Checks the channels that notifications are sent to.").addCommand(test);
}

async function testChannel(channel: string, { service: url, key, locale }: ServiceOptions): Promise<void> {
  const service = connectService({ url, key, ...(locale === undefined ? {} : { locale }) });
  try {
    const { message } = await service.testChannel({ key: channel }, { actor: "command line" });
    console.log(message);
  } catch (error) {
    throw withAdvice(error, url);
  } finally {
    await service.close();
  }
}
