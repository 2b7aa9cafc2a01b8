import { Command, Option } from "commander";
import { failing } from "./failure.ts";
import type { MqttOptions } from "./run-mqtt.ts";
import { examples, secretsHelp, serviceOptions } from "./service-options.ts";

export function mqttCommand(): Command {
  const command = new Command("mqtt");
  for (const option of serviceOptions()) command.addOption(option);
  return command
    .description("Bridges a running service, Rigbridge or Awesome Miner, to MQTT and Home Assistant.")
    .option("--config <file>", "take the settings from the mqtt section of this configuration file")
    .addOption(new Option("--broker <url>", "broker, such as mqtt://192.168.1.2:1883").env("RIGBRIDGE_MQTT"))
    .option("--client-id <id>", "client id at the broker, different for each bridge (default: rigbridge)")
    .addOption(new Option("--username <name>", "user name at the broker").env("RIGBRIDGE_MQTT_USERNAME"))
    .addOption(new Option("--password <password>", "password at the broker").env("RIGBRIDGE_MQTT_PASSWORD"))
    .option("--ca <file>", "certificate of the authority that signed the broker's certificate (PEM)")
    .option("--cert <file>", "client certificate (PEM)")
    .option("--cert-key <file>", "key of the client certificate (PEM)")
    .option("--base <levels>", "first levels of every topic (default: rigbridge)")
    .option("--interval <seconds>", "minimum time between two readings of a miner (default: 10)")
    .option("--prefix <levels>", "Home Assistant's discovery prefix (default: homeassistant)")
    .option("--no-home-assistant", "do not announce the rigs to Home Assistant")
    .option("--data <folder>", "folder for the units of hash rates, which stay the same across restarts", ".")
    .option("--retract", "instead: remove all that Rigbridge has announced and retained at the broker, and end")
    .option("--dry-run", "with --retract: only list what would be removed")
    .addHelpText("after", `${retractHelp}${secretsHelp}`)
    .addHelpText("after", examples("rigbridge mqtt --broker mqtt://192.168.1.2"))
    .action(failing(mqtt));
}

const retractHelp =
  "\n--retract works while Rigbridge is stopped. It empties Rigbridge's discovery messages and its own topics below\n" +
  "--base; messages of other programs stay. Exit code 0: nothing is left; 1: it failed, or Rigbridge is running.\n";

/** The bridge is loaded only now, so that the help appears quickly. */
async function mqtt(options: MqttOptions): Promise<void> {
  const { retractBridge, runMqtt } = await import("./run-mqtt.ts");
  await (options.retract ? retractBridge(options) : runMqtt(options));
}
