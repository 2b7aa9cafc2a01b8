import { z } from "zod";
import { answering } from "./child.ts";
import { paced } from "./pace.ts";

export interface BareRig {
  readonly host: string;
  readonly port: number;
  readonly kind: string;
  readonly token: string | null;
}

const Rigs = z.array(z.object({ address: z.string(), kind: z.string(), token: z.string().nullable() }));
const Pace = z.object({ perSecond: z.number(), seconds: z.number(), batchMs: z.number() });

/** As many sockets at once as the fleet has for rigs that answer. */
const places = 512;

/** A process that polls rigs in turn, and does nothing else. */
export function barePolling(poll: (rig: BareRig) => Promise<void>): void {
  let rigs: BareRig[] = [];
  answering({
    rigs: (input) => {
      rigs = Rigs.parse(input).map(({ address, kind, token }) => {
        const [host = "", port] = address.split(":");
        return { host, port: Number(port), kind, token };
      });
    },
    run: (input) => {
      const pace = Pace.parse(input);
      const one = async (turn: number): Promise<void> => {
        const rig = rigs[turn % rigs.length];
        if (rig !== undefined) await poll(rig);
      };
      return paced(one, { ...pace, places });
    },
  });
}
