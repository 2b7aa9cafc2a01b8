import { Socket } from "node:net";

/**
 * Loaded before a service (node --import): the process has an address of its own, as a machine has, by which a rig tells who
 * sends, and reaches one other place only by way of a relay that may be cut.
 */
const { OWN_HOST, OTHER_PORT, RELAY_PORT } = process.env;

interface Target {
  host?: string;
  port?: number | string;
  localAddress?: string | undefined;
}

const { connect } = Socket.prototype;

/** The options of a connection; those of `net.connect` have been put into a list. */
const targetOf = (given: unknown): Target | null => {
  const target: unknown = Array.isArray(given) ? given[0] : given;
  return typeof target === "object" && target !== null ? target : null;
};

Object.assign(Socket.prototype, {
  connect(this: Socket, ...args: unknown[]): Socket {
    const target = targetOf(args[0]);
    if (target?.port !== undefined && String(target.host).startsWith("127.")) {
      target.localAddress = OWN_HOST;
      if (String(target.port) === OTHER_PORT) target.port = Number(RELAY_PORT);
    }
    return Reflect.apply(connect, this, args);
  },
});
