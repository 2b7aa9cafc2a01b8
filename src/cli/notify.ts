import { Command } from "commander";
import { failing } from "./failure.ts";
import { caller, examples, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";

export function notifyCommand(): Command {
  const example = "rigbridge notify test phone";
  const test = serviceCommand("test", example)
    .description("Sends a test message to a channel of a running service, and says what the channel answers.")
    .argument("<channel>", "key of the channel, as in the service's configuration")
    .action(failing(testChannel));
  return new Command("notify")
    .description("Checks the channels that notifications are sent to.")
    .addHelpText("after", examples(example))
    .addCommand(test);
}

async function testChannel(channel: string, options: ServiceOptions): Promise<void> {
  const { message } = await withService(options, (service) => service.testChannel({ key: channel }, caller));
  console.log(message);
}
