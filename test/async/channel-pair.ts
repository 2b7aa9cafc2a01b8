import { Channel } from "../../src/async/channel.ts";

/** Two ends of a channel in this process. `sent`: bytes that each end has sent. */
export function channelPair(window?: number) {
  const sent = [0, 0];
  const ends: Channel[] = [];
  const lineOf = (own: 0 | 1) => {
    const other = (): Channel | undefined => ends[1 - own];
    return new Channel({
      send: (bytes) => {
        sent[own] = (sent[own] ?? 0) + bytes.length;
        const copy = Buffer.from(bytes);
        setImmediate(() => other()?.receive(copy));
      },
      close: () => void setImmediate(() => other()?.ended()),
      ...(window === undefined
        ? {}
        : { window: { bytes: window, give: (bytes: number) => void setImmediate(() => other()?.credit(bytes)) } }),
    });
  };
  const [one, two] = [lineOf(0), lineOf(1)];
  ends.push(one, two);
  return { one, two, sent: (end: 0 | 1): number => sent[end] ?? 0 };
}
