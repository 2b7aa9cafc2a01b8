import { Command, Option } from "commander";
import { failing } from "./failure.ts";
import type { MqttOptions } from "./run-mqtt.ts";
import { secretsHelp, serviceOptions } from "./service-options.ts";

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
    .addHelpText("after", secretsHelp)
    .action(failing(mqtt));
}

/** The bridge is loaded only now, so that the help appears quickly. */
async function mqtt(options: MqttOptions): Promise<void> {
  const { runMqtt } = await import("./run-mqtt.ts");
  await runMqtt(options);
}
