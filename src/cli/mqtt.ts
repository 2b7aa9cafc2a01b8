import { Command, Option } from "commander";
import { failing } from "./failure.ts";

export interface MqttOptions {
  readonly service: string;
  readonly key?: string;
  readonly locale?: string;
  readonly config?: string;
  readonly broker?: string;
  readonly clientId?: string;
  readonly username?: string;
  readonly password?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly certKey?: string;
  readonly base?: string;
  readonly interval?: string;
  readonly prefix?: string;
  readonly homeAssistant: boolean;
  readonly data: string;
}

export function mqttCommand(): Command {
  return new Command("mqtt")
    .description("Brings a running service, this one's or the reference product's, to MQTT and Home Assistant.")
    .addOption(
      new Option("--service <url>", "where the service is").default("http://127.0.0.1:17790").env("RIGBRIDGE_SERVICE"),
    )
    .addOption(new Option("--key <key>", "the service's API key").env("RIGBRIDGE_KEY"))
    .option("--locale <tag>", "how a service that is no Rigbridge writes its numbers, like sv-SE (default: en-US)")
    .option("--config <file>", "take the settings from mqtt in this configuration")
    .addOption(new Option("--broker <url>", "the broker, like mqtt://192.168.1.2:1883").env("RIGBRIDGE_MQTT"))
    .option("--client-id <id>", "tells this bridge from another at the same broker (default: rigbridge)")
    .addOption(new Option("--username <name>", "for the broker").env("RIGBRIDGE_MQTT_USERNAME"))
    .addOption(new Option("--password <password>", "likewise").env("RIGBRIDGE_MQTT_PASSWORD"))
    .option("--ca <file>", "the certificate that the broker's is signed by (PEM)")
    .option("--cert <file>", "a certificate of our own (PEM)")
    .option("--cert-key <file>", "its key (PEM)")
    .option("--base <levels>", "first levels of every topic (default: rigbridge)")
    .option("--interval <seconds>", "between two readings of a miner, at least (default: 10)")
    .option("--prefix <levels>", "Home Assistant's discovery prefix (default: homeassistant)")
    .option("--no-home-assistant", "do not make the rigs known to Home Assistant")
    .option("--data <folder>", "where the units of hash rates are kept", ".")
    .addHelpText(
      "after",
      "\nOther users of this machine see a command's options; secrets are safer in the environment.",
    )
    .action(failing(mqtt));
}

/** The bridge is loaded only now, so that other commands start faster. */
async function mqtt(options: MqttOptions): Promise<void> {
  const { runMqtt } = await import("./run-mqtt.ts");
  await runMqtt(options);
}
